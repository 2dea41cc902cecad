import numpy as np


def softmax(x, axis):
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D) for W in (Wq, Wk, Wv))
    S = np.einsum("ihd,jhd->hij", Q, K) / np.sqrt(D)
    S = S + np.where(np.tri(T), 0.0, -np.inf)
    A = softmax(S, axis=0)
    return np.einsum("hij,jhd->ihd", A, V).reshape(T, d) @ Wo
