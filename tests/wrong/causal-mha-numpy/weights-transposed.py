import numpy as np


def linear(x, w):
    return x @ w.T


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (linear(X, W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv))
    S = np.einsum("ihd,jhd->hij", Q, K) / np.sqrt(D)
    S[:, np.triu(np.ones((T, T), dtype=bool), 1)] = -np.inf
    A = np.exp(S - S.max(-1, keepdims=True))
    A /= A.sum(-1, keepdims=True)
    return linear(np.einsum("hij,jhd->ihd", A, V).reshape(T, d), Wo)
