import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (np.reshape(X @ W, (n_heads, T, D)) for W in (Wq, Wk, Wv))
    S = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(D)
    S = np.where(np.tril(np.ones((T, T), dtype=bool)), S, -np.inf)
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    O = (E / E.sum(axis=-1, keepdims=True)) @ V
    return O.transpose(1, 0, 2).reshape(T, d) @ Wo
