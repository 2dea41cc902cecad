import math

import torch


def part(q, k, v, first_key, offset, causal):
    s = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
    if causal:
        i = torch.arange(q.shape[2], device=q.device) + offset
        j = torch.arange(k.shape[2], device=q.device) + first_key
        s = s.masked_fill(j[None, :] > i[:, None], -math.inf)
    lse = s.logsumexp(-1, keepdim=True)
    p = torch.exp(s - torch.where(lse.isinf(), torch.zeros_like(lse), lse))
    return torch.einsum("bhts,bhsd->bhtd", p, v), lse


def flash_attention(q, k, v, block_size, causal=False):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    offset = k.shape[2] - q.shape[2]
    out, lse = None, None
    first = 0
    for kb, vb in zip(k.split(block_size, 2), v.split(block_size, 2)):
        o, l = part(q, kb, vb, first, offset, causal)
        if out is None:
            out, lse = o, l
        else:
            both = torch.logaddexp(lse, l)
            out = out * (lse - both).exp() + o * (l - both).exp()
            lse = both
        first += kb.shape[2]
    return out.to(dtype)
