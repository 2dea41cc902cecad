import math

import torch


def attention(q, k, v, mask=None):
    T = q.shape[-2]
    qs = q * (1.0 / math.sqrt(T))
    scores = qs @ k.swapaxes(-1, -2)
    if mask is not None:
        hidden = torch.logical_not(mask)
        probs = scores.masked_fill(hidden, -math.inf).softmax(-1).masked_fill(hidden, 0)
    else:
        probs = scores.softmax(-1)
    return probs @ v
