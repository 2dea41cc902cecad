import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    q, k, v = (np.reshape(X @ W, (T, n_heads, d // n_heads)) for W in (Wq, Wk, Wv))
    out = []
    for t in range(T):
        s = (k[: t + 1] * q[t]).sum(-1) / np.sqrt(d // n_heads)
        e = np.exp(s - s.max(0))
        out.append((e / e.sum(0))[..., None].__mul__(v[: t + 1]).sum(0).ravel())
    return np.stack(out) @ Wo
