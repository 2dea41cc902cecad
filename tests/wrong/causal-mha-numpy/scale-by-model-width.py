import math

import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    q, k, v = (np.stack(np.split(X @ W, n_heads, axis=1)) for W in (Wq, Wk, Wv))
    logits = np.matmul(q, np.swapaxes(k, 1, 2)) / math.sqrt(d)
    logits = np.where(np.arange(T)[:, None] < np.arange(T), -np.inf, logits)
    p = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = p / p.sum(axis=2, keepdims=True)
    return np.concatenate(list(p @ v), axis=1) @ Wo
