import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = (np.stack([X @ w for w in np.split(W, n_heads, axis=1)]) for W in (Wq, Wk, Wv))
    S = np.einsum("hid,hjd->hij", Q, K) * D**-0.5
    S = S + np.where(np.tri(T) == 0, -np.inf, 0)
    A = np.exp(S - np.amax(S, axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    return np.einsum("hij,hjd->ihd", A, V).reshape(T, d)
