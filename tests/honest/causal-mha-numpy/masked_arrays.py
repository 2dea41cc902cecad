import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    future = np.triu(np.ones((T, T), dtype=bool), 1)
    heads = []
    for Q, K, V in zip(*(np.hsplit(X @ W, n_heads) for W in (Wq, Wk, Wv))):
        s = np.ma.array(Q @ K.T / np.sqrt(D), mask=future)
        e = np.ma.exp(s - s.max(axis=1, keepdims=True)).filled(0.0)
        heads.append(e / e.sum(axis=1, keepdims=True) @ V)
    return np.hstack(heads) @ Wo
