import math

import torch


def attention_backward(q, k, v, d_out):
    D = q.shape[-1]
    scale = 1 / math.sqrt(D)
    s = torch.einsum("bhid,bhjd->bhij", q, k) * scale
    p = torch.softmax(s, dim=-1)

    dv = torch.einsum("bhij,bhid->bhjd", p, d_out)
    dp = torch.einsum("bhid,bhjd->bhij", d_out, v)
    row = (p * dp).sum(dim=-1, keepdim=True)
    ds = p * (dp - row)
    dq = torch.einsum("bhij,bhjd->bhid", ds, k) * scale
    dk = torch.einsum("bhij,bhid->bhjd", ds, q) * scale
    return dq, dk, dv
