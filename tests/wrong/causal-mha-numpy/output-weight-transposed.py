import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    S = np.where(np.tri(T, dtype=bool), Q @ K.transpose(0, 2, 1) / np.sqrt(D), -np.inf)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    O = np.concatenate([a @ v for a, v in zip(A, V)], axis=-1)
    return np.einsum("td,ed->te", O, Wo)
