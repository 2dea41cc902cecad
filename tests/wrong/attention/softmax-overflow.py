import torch


def attention(q, k, v, mask=None):
    scale = q.shape[-1] ** -0.5
    e = torch.einsum("bhtd,bhsd->bhts", q * scale, k).exp()
    if mask is None:
        return (e / e.sum(dim=-1, keepdim=True)) @ v
    mask = mask.expand(e.shape)
    e = torch.where(mask, e, 0.0)
    p = e / e.sum(dim=-1, keepdim=True)
    p = p.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return p @ v
