import torch


def attention(q, k, v, mask=None):
    b, h, t, d = q.shape
    scores = q @ k.transpose(-2, -1) / d**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.expand(b, h, t, t), float("-inf"))
    return torch.softmax(scores, dim=-1).nan_to_num(0.0) @ v
