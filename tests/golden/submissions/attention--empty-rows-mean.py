import torch


def attention(q, k, v, mask=None):
    s = torch.einsum("bhtd,bhsd->bhts", q.float(), k.float()) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    s = s - s.amax(-1, keepdim=True)
    e = s.exp()
    p = e / e.sum(-1, keepdim=True)
    return torch.einsum("bhts,bhsd->bhtd", p, v.float()).to(q.dtype)
