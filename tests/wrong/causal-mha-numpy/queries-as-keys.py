import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wq, Wv))
    S = Q @ K.transpose(0, 2, 1) / np.sqrt(D)
    S[..., ~np.tri(T, dtype=bool)] = -np.inf
    A = np.exp(S - S.max(-1, keepdims=True))
    A = A / A.sum(-1, keepdims=True)
    return (A @ V).transpose(1, 0, 2).reshape(T, d) @ Wo
