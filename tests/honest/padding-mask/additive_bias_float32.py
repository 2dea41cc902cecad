import math

import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    qf, kf, vf = q.float(), k.float(), v.float()
    hidden = torch.arange(T).expand(B, T) >= lengths.unsqueeze(1)
    bias = torch.zeros(B, T).masked_fill_(hidden, torch.finfo(torch.float32).min)
    s = torch.matmul(qf, kf.mT).div(math.sqrt(D)) + bias[:, None, None]
    w = torch.softmax(s, -1) * (~hidden)[:, None, None].float()
    return (w @ vf).to(q.dtype)
