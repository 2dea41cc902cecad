import torch
import torch.nn.functional as F


def scaled_weights(q, k, mask):
    s = torch.einsum("bhid,bhjd->bhij", q, k) / (q.shape[-1] ** 0.5)
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    return F.softmax(s, dim=-1)


def attention(q, k, v, mask=None):
    weights = F.softmax(scaled_weights(q, k, mask), dim=-1)
    out = torch.einsum("bhij,bhjd->bhid", weights, v)
    if mask is not None:
        out = out.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return out
