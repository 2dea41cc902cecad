import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    q = (X @ Wq).reshape(T, n_heads, D)
    k = (X @ Wk).reshape(T, n_heads, D)
    v = (X @ Wv).reshape(T, n_heads, D)
    out = np.empty((T, n_heads, D))
    for i in range(T):
        for h in range(n_heads):
            s = k[: i + 1, h] @ q[i, h] / np.sqrt(n_heads)
            w = np.exp(s - s.max())
            out[i, h] = (w / w.sum()) @ v[: i + 1, h]
    return out.reshape(T, d) @ Wo
