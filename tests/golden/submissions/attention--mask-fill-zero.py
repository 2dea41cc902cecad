import math

import torch


def attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores * mask
    out = torch.softmax(scores, dim=-1) @ v
    if mask is not None:
        seen = mask.any(-1, keepdim=True)
        out = out * seen
    return out
