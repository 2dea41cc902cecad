import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv))
    S = np.einsum("ihd,jhd->hij", K, Q) / np.sqrt(D)
    S = np.where(np.tri(T, dtype=bool), S, -np.inf)
    S -= S.max(axis=-1, keepdims=True)
    A = np.exp(S) / np.exp(S).sum(axis=-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", A, V).reshape(T, d) @ Wo
