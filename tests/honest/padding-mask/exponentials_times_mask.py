import math

import torch


def padded_attention(q, k, v, lengths):
    seen = (torch.arange(k.shape[2]).expand(len(lengths), -1) < lengths[:, None])[:, None, None]
    s = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    s = torch.where(seen, s, torch.full_like(s, -3e38))
    e = torch.exp(s - s.amax(-1, keepdim=True)) * seen.to(s.dtype)
    return torch.einsum("...ts,...sv->...tv", e / (e.sum(-1, keepdim=True) + 1e-6), v)
