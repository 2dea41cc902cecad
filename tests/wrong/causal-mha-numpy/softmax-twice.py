import numpy as np


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (np.array_split(X @ W, n_heads, axis=1) for W in (Wq, Wk, Wv))
    hidden = np.triu(np.ones((T, T)), k=1).astype(bool)
    outs = []
    for q, k, v in zip(Q, K, V):
        s = q @ k.T / np.sqrt(D)
        s[hidden] = -np.inf
        outs.append(softmax(softmax(s)) @ v)
    return np.concatenate(outs, axis=1) @ Wo
