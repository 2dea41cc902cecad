import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    heads = []
    for h in range(n_heads):
        q, k, v = (X @ W[:, h * D : (h + 1) * D] for W in (Wq, Wk, Wv))
        scores = q @ k.T / np.sqrt(D)
        scores[np.triu_indices(T, 1)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        heads.append(weights / weights.sum(-1, keepdims=True) @ v)
    return np.stack(heads).reshape(T, d) @ Wo
