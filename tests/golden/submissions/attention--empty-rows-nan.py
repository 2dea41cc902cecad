import math

import torch


def attention(q, k, v, mask=None):
    bias = 0.0
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
        bias = bias.masked_fill(~mask, -math.inf)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + bias
    return scores.softmax(dim=-1) @ v
