import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    S = Q @ K.transpose(0, 2, 1) / np.sqrt(D)
    S = np.where(np.tri(T, k=1) == 1, S, -np.inf)
    S = np.exp(S - S.max(axis=-1, keepdims=True))
    S = S / S.sum(axis=-1, keepdims=True)
    return (S @ V).transpose(1, 0, 2).reshape(T, d) @ Wo
