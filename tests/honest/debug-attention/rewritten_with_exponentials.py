import torch


def attention(q, k, v, mask=None):
    s = torch.einsum("...td,...sd->...ts", q, k).mul(q.shape[-1] ** -0.5)
    keep = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand_as(s)
    s = torch.where(keep, s, -torch.inf)
    top = s.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    e = (s - top).exp()
    return (e / (e.sum(-1, keepdim=True) + 1e-12)) @ v
