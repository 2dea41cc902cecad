import numpy as np

np_softmax_axis = -1


def weights(scores, mask):
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(axis=np_softmax_axis, keepdims=True))
        return e / e.sum(axis=np_softmax_axis, keepdims=True)


def causal_mha(X, Wq, Wk, Wv, Wo, n_heads):
    T, d = X.shape
    D = d // n_heads
    future = np.triu(np.ones((T, T)), 1).astype(bool)
    outs = []
    for h in range(n_heads):
        c = slice(h * D, (h + 1) * D)
        a = weights((X @ Wq)[:, c] @ (X @ Wk)[:, c].T / np.sqrt(D), future)
        outs.append(a @ (X @ Wv)[:, c])
    return np.concatenate(outs, axis=-1) @ Wo
