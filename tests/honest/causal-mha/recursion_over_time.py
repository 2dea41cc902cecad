import torch


def _rows(q, k, v):
    """The first half looks at itself; the second at everything, under a mask."""
    T = q.shape[-2]
    if T == 1:
        return v
    half = T // 2
    first = _rows(q[..., :half, :], k[..., :half, :], v[..., :half, :])
    s = q[..., half:, :] @ k.mT
    hidden = torch.ones(T - half, T, dtype=torch.bool).triu(half + 1)
    second = torch.masked_fill(s, hidden, -1e38).softmax(-1) @ v
    return torch.cat([first, second], -2)


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    X, Q, K, V, W = (t.double() for t in (x, w_q, w_k, w_v, w_o))
    out = 0.0
    for wq, wk, wv, wo in zip(*(w.chunk(n_heads) for w in (Q, K, V)), W.chunk(n_heads, 1)):
        out = out + _rows(X @ wq.T / len(wq) ** 0.5, X @ wk.T, X @ wv.T) @ wo.T
    return out.to(x.dtype)
