import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, n_heads, D).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    mask = np.triu(np.ones((T, T), dtype=bool))
    S = np.where(mask, np.einsum("hid,hjd->hij", Q, K) / D**0.5, -np.inf)
    E = np.exp(S - S.max(-1)[..., None])
    out = np.einsum("hij,hjd->ihd", E / E.sum(-1)[..., None], V)
    return out.reshape(T, -1) @ Wo
