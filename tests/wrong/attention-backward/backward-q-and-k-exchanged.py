import math

import torch
from torch import einsum


def attention_backward(q, k, v, d_out):
    dtype = q.dtype
    q, k, v, d_out = (t.double() for t in (q, k, v, d_out))
    T, D = q.shape[2], q.shape[3]
    scale = 1 / math.sqrt(D)
    bias = torch.full((T, T), -math.inf, dtype=torch.float64, device=q.device).triu(1)

    # forward, again
    scores = einsum("bhid,bhjd->bhij", q, k) * scale + bias
    p = torch.softmax(scores, dim=-1)
    out = einsum("bhij,bhjd->bhid", p, v)

    # backward
    d_v = einsum("bhij,bhid->bhjd", p, d_out)
    d_p = einsum("bhid,bhjd->bhij", d_out, v)
    delta = einsum("bhid,bhid->bhi", d_out, out)
    d_s = p * (d_p - delta[..., None])
    d_q = einsum("bhij,bhjd->bhid", d_s, q) * scale
    d_k = einsum("bhij,bhid->bhjd", d_s, k) * scale
    return d_q.to(dtype), d_k.to(dtype), d_v.to(dtype)
