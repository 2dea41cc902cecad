import math

import torch


def sliding_window_attention(q, k, v, window):
    B, H, T, D = q.shape
    ones = torch.ones(T, T, dtype=torch.bool, device=q.device)
    mask = torch.tril(ones) & torch.triu(ones, diagonal=2 - window)
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(D)
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    attn = torch.softmax(scores, dim=-1)
    return torch.einsum("bhij,bhjd->bhid", attn, v)
