import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    out = []
    for h in range(n_heads):
        lo, hi = h * D, (h + 1) * D
        q, k, v = (X @ W[:, lo:hi] for W in (Wq, Wk, Wv))
        z = q @ k.T * D**-0.5
        z = np.exp(z - z.max(axis=1, keepdims=True))
        out.append((z / z.sum(axis=1, keepdims=True)) @ v)
    return np.concatenate(out, 1) @ Wo
