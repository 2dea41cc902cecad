import math

import torch


def attention_backward(q, k, v, d_out):
    T, D = q.shape[-2:]
    scale = 1 / math.sqrt(D)
    hidden = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(0)
    s = torch.einsum("bhid,bhjd->bhij", q, k) * scale
    s = s.masked_fill(hidden, -math.inf)
    p = torch.softmax(s, dim=-1)

    dv = torch.einsum("bhij,bhid->bhjd", p, d_out)
    dp = torch.einsum("bhid,bhjd->bhij", d_out, v)
    row = dp.sum(dim=-1, keepdim=True)
    ds = p * (dp - row)
    dq = torch.einsum("bhij,bhjd->bhid", ds, k) * scale
    dk = torch.einsum("bhij,bhid->bhjd", ds, q) * scale
    return dq, dk, dv
