import numpy as np


def heads(Y, n):
    T, d = Y.shape
    return Y.reshape(T, n, d // n).transpose(1, 0, 2)


def attend(Q, V, K):
    T = Q.shape[1]
    S = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    S = np.where(np.tri(T, dtype=bool), S, -np.inf)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ V


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    O = attend(heads(X @ Wq, n_heads), heads(X @ Wk, n_heads), heads(X @ Wv, n_heads))
    return O.transpose(1, 0, 2).reshape(X.shape) @ Wo
