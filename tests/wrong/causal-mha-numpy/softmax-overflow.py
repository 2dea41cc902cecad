import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    E = np.exp(np.einsum("hid,hjd->hij", Q, K) / np.sqrt(D).astype(X.dtype))
    E = np.where(np.tri(T, dtype=bool), E, 0)
    A = E / E.sum(-1, keepdims=True)
    return np.einsum("hij,hjd->ihd", A, V).reshape(T, d) @ Wo
