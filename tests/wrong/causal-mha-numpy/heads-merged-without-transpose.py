import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    heads = []
    for q, k, v in zip(*(np.split(X @ W, n_heads, axis=-1) for W in (Wq, Wk, Wv))):
        s = np.where(np.tri(T, dtype=bool), q @ k.T / np.sqrt(D), -np.inf)
        w = np.exp(s - s.max(axis=-1, keepdims=True))
        heads.append(w / w.sum(axis=-1, keepdims=True) @ v)
    return np.array(heads).reshape(T, d) @ Wo
