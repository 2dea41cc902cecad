import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    q, k, v = ((X @ W).reshape(T, n_heads, D).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    scores += np.triu(np.full((T, T), -np.inf), k=1)
    scores -= scores.max(-1, keepdims=True)
    p = np.exp(scores)
    p /= p.sum(-1, keepdims=True)
    return (p @ v).swapaxes(0, 1).reshape(T, d) @ Wo
