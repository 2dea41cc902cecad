import numpy as np


def softmax(a):
    e = np.exp(a - np.max(a))
    return e / np.sum(e)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    mask = np.tril(np.ones((T, T), dtype=bool))
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    parts = []
    for h in range(n_heads):
        c = slice(D * h, D * (h + 1))
        scores = Q[:, c] @ K[:, c].T / np.sqrt(D)
        parts.append(softmax(np.where(mask, scores, -np.inf)) @ V[:, c])
    return np.concatenate(parts, axis=-1) @ Wo
