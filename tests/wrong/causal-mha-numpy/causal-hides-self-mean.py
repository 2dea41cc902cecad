import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    S = (Q / np.sqrt(D)) @ K.swapaxes(1, 2)
    S = np.where(np.tri(T, k=-1, dtype=bool), S, -1e9)
    P = np.exp(S - S.max(axis=2, keepdims=True))
    P = P / P.sum(axis=2, keepdims=True)
    return (P @ V).swapaxes(0, 1).reshape(T, d) @ Wo
