import numpy as np


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    Q, K, V = ((X @ W).reshape(T, D, n_heads).transpose(2, 0, 1) for W in (Wq, Wk, Wv))
    S = Q @ K.transpose(0, 2, 1) / np.sqrt(D)
    S = np.where(np.tri(T, dtype=bool), S, -np.inf)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)
    return np.concatenate([A[h] @ V[h] for h in range(n_heads)], axis=1) @ Wo
