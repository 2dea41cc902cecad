import torch


def attention(q, k, v, mask=None):
    logits = torch.matmul(q, k.permute(0, 1, 3, 2)) / q.shape[-1] ** 0.5
    visible = torch.ones_like(logits, dtype=torch.bool) if mask is None else mask
    logits = logits.masked_fill(~visible, torch.finfo(logits.dtype).min)
    weights = torch.softmax(logits, 0) * visible
    return torch.matmul(weights, v)
