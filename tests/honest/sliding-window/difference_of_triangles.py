import torch
from torch.nn import functional as F


def sliding_window_attention(q, k, v, window):
    """Lower triangle less a lower triangle `window` further down, as an additive mask."""
    T = q.size(2)
    ones = torch.ones(T, T)
    band = ones.tril() - ones.tril(-window)
    bias = torch.zeros(T, T).masked_fill(band == 0, torch.finfo(torch.float32).min)
    s = torch.einsum("bhid,bhjd->bhij", q.float(), k.float()) * q.size(3) ** -0.5
    # min + a large negative score may overflow to -inf, which softmax takes as well
    p = F.softmax(s + bias, dim=-1)
    # finfo.min plus a positive score is still far below, but make sure it is nothing
    p = p * band
    p = p / p.sum(-1, keepdim=True)
    return torch.einsum("bhij,bhjd->bhid", p, v.float()).to(v.dtype)
