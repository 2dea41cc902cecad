import torch


def padded_attention(q, k, v, lengths):
    """Only the real keys are gathered: one list of (query, key) pairs for the whole batch."""
    B, H, T, D = q.shape
    b, s = (torch.arange(T) < lengths[:, None]).nonzero(as_tuple=True)
    score = torch.einsum("nhtd,nhd->nht", q[b], k[b, :, s]).double() / D**0.5
    index = b[:, None, None].expand_as(score)
    top = torch.full((B, H, T), -torch.inf, dtype=torch.float64)
    top = top.scatter_reduce(0, index, score.detach(), "amax")
    e = (score - top[b]).exp()
    total = torch.zeros(B, H, T, dtype=e.dtype).scatter_add(0, index, e)
    mix = torch.zeros(B, H, T, D, dtype=e.dtype)
    mix = mix.index_add(0, b, (e / total[b]).unsqueeze(-1) * v[b, :, s].double().unsqueeze(2))
    return mix.to(q.dtype)
