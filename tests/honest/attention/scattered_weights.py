import torch


def attention(q, k, v, mask=None):
    """Only the visible pairs are scored; weights are scattered, and sums indexed."""
    B, H, T, D = q.shape
    S = k.shape[2]
    if mask is None:
        mask = q.new_ones((1, 1, 1, 1), dtype=torch.bool)
    pairs = mask.expand(B, H, T, S).nonzero()
    b, h, t, s = pairs.unbind(1)
    row = (b * H + h) * T + t
    score = (q[b, h, t] * k[b, h, s]).sum(-1) / D**0.5
    top = torch.full((B * H * T,), -torch.inf, dtype=score.dtype)
    top = top.scatter_reduce(0, row, score.detach(), "amax")
    e = torch.exp(score - top[row])
    total = torch.zeros(B * H * T, dtype=e.dtype).index_add(0, row, e)
    w = e / total[row]
    out = torch.zeros(B * H * T, v.shape[-1], dtype=v.dtype)
    return out.index_add(0, row, w[:, None] * v[b, h, s]).reshape(B, H, T, -1)
