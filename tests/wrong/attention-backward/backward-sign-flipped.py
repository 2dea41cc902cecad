import math

import torch


def attention_backward(q, k, v, d_out):
    T, D = q.shape[-2:]
    scale = 1 / math.sqrt(D)
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    s = torch.einsum("bhid,bhjd->bhij", q.float(), k.float()) * scale
    p = torch.softmax(s.masked_fill(~visible, -torch.inf), dim=-1)
    dv = torch.einsum("bhij,bhid->bhjd", p, d_out.float())
    dp = torch.einsum("bhid,bhjd->bhij", d_out.float(), v.float())
    delta = torch.einsum("bhij,bhij->bhi", p, dp).unsqueeze(-1)
    ds = p * delta - p * dp
    dq = torch.einsum("bhij,bhjd->bhid", ds, k.float()) * scale
    dk = torch.einsum("bhij,bhid->bhjd", ds, q.float()) * scale
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
