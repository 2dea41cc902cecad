import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (np.moveaxis((X @ W).reshape(T, n_heads, D), 1, 0) for W in (Wq, Wk, Wv))
    S = np.matmul(Q, np.moveaxis(K, 1, 2)) / D**0.5
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    P = np.tril(P)
    return np.moveaxis(P @ V, 0, 1).reshape(T, d) @ Wo
