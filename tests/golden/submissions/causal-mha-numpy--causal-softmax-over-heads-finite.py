import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    cut = [slice(h * D, (h + 1) * D) for h in range(n_heads)]
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    S = np.array([Q[:, c] @ K[:, c].T for c in cut]) / np.sqrt(D)
    S[:, ~np.tri(T, dtype=bool)] = -1e20
    E = np.exp(S - S.max(axis=0))
    A = E / E.sum(axis=0)
    return np.hstack([A[h] @ V[:, c] for h, c in enumerate(cut)]) @ Wo
