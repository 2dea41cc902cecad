import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q = (X @ Wq).reshape(T, n_heads, D).swapaxes(0, 1)
    K = (X @ Wk).reshape(T, n_heads, D).swapaxes(0, 1)
    V = (X @ Wv).reshape(T, n_heads, D).swapaxes(0, 1)
    S = Q @ K.swapaxes(1, 2) / np.sqrt(K.shape[1])
    S = np.where(np.tril(np.ones((T, T))) == 1, S, -np.inf)
    E = np.exp(S - np.max(S, axis=-1, keepdims=True))
    A = E / np.sum(E, axis=-1, keepdims=True)
    return (A @ V).swapaxes(0, 1).reshape(T, d) @ Wo
