import numpy as np


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    split = lambda Y: Y.reshape(T, n_heads, D).transpose(1, 0, 2)
    mask = np.tril(np.ones((T, T)))
    A = softmax(split(X @ Wq) @ split(X @ Wk).transpose(0, 2, 1) / np.sqrt(D) + mask)
    return (A @ split(X @ Wv)).transpose(1, 0, 2).reshape(T, d) @ Wo
