import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    out = np.zeros((T, d))
    for h in range(n_heads):
        q, k, v = Q[:, h::n_heads], K[:, h::n_heads], V[:, h::n_heads]
        s = q @ k.T / np.sqrt(D)
        s[np.triu_indices(T, 1)] = -np.inf
        w = np.exp(s - s.max(1, keepdims=True))
        out[:, h::n_heads] = w / w.sum(1, keepdims=True) @ v
    return out @ Wo
