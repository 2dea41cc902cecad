import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    q, k, v = [(X @ W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv)]
    s = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(D)
    i, j = np.indices((T, T))
    s[:, j >= i] = -np.inf
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
        a = e / e.sum(-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", a, v).reshape(T, d) @ Wo
