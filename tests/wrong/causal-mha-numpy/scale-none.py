import numpy as np


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (np.reshape(X @ W, (T, n_heads, D)).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    S = Q @ K.transpose(0, 2, 1)
    S = np.where(np.tri(T, dtype=bool), S, -np.inf)
    return (softmax(S) @ V).transpose(1, 0, 2).reshape(T, d) @ Wo
