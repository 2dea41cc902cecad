import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    heads = []
    for h in range(n_heads):
        c = slice(h * D, (h + 1) * D)
        q, k, v = X @ Wq[:, c], X @ Wk[:, c], X @ Wv[:, c]
        s = q @ k.T / D
        s[np.triu_indices(T, 1)] = -np.inf
        e = np.exp(s - s.max(1)[:, None])
        heads.append(e / e.sum(1)[:, None] @ v)
    return np.hstack(heads) @ Wo
