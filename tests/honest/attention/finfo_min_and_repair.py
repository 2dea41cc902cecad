import math

import torch


def attention(q, k, v, mask=None):
    d = q.size(-1)
    s = torch.matmul(q / math.sqrt(d), k.transpose(-2, -1))
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), torch.finfo(s.dtype).min)
    p = torch.softmax(s, dim=-1)
    if mask is not None:
        p = p * mask.to(p.dtype)  # rows that see nothing become zero
    return p @ v
