import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Y = X.astype(np.float64)
    Q, K, V = ((Y @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    S = Q @ K.transpose(0, 2, 1) / np.sqrt(D)
    S = np.where(np.tri(T, dtype=bool), S, -np.inf)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    return ((A @ V).transpose(1, 0, 2).reshape(T, d) @ Wo).astype(X.dtype)
