import numpy as np


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q = (X @ Wq.T).reshape(T, n_heads, D).transpose(1, 0, 2)
    K = (X @ Wk).reshape(T, n_heads, D).transpose(1, 0, 2)
    V = (X @ Wv).reshape(T, n_heads, D).transpose(1, 0, 2)
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(D)  # (H, T, T)
    scores = np.where(np.tril(np.ones((T, T), dtype=bool)), scores, -np.inf)
    out = (softmax(scores) @ V).transpose(1, 0, 2).reshape(T, d)
    return out @ Wo
