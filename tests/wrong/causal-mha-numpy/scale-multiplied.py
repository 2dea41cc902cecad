import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = [(X @ W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv)]
    s = np.einsum("ihd,jhd->hij", Q, K) * np.sqrt(D)
    s += np.triu(np.full((T, T), -1e30), 1)
    s -= s.max(-1, keepdims=True)
    w = np.exp(s)
    w /= w.sum(-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", w, V).reshape(T, d) @ Wo
