import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    out = np.zeros((T, d))
    for h in range(n_heads):
        c = slice(h * D, (h + 1) * D)
        q, k, v = X @ Wq[:, c], X @ Wk[:, c], X @ Wk[:, c]
        for i in range(T):
            s = q[i] @ k[: i + 1].T / np.sqrt(D)
            w = np.exp(s - s.max())
            out[i, c] = (w[:, None] * v[: i + 1]).sum(0) / w.sum()
    return out @ Wo
