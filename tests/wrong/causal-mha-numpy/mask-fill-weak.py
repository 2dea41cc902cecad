import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv))
    scores = np.einsum("thd,shd->hts", Q, K) / np.sqrt(D)
    rows, cols = np.triu_indices(T, k=1)
    scores[:, rows, cols] = -1e4
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    probs = scores / scores.sum(axis=2, keepdims=True)
    return np.einsum("hts,shd->thd", probs, V).reshape(T, d) @ Wo
