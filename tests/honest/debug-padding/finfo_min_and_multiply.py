import math

import torch


def causal_and_padding_mask(lengths, T):
    flipped = torch.arange(T - 1, -1, -1, device=lengths.device)  # distance from the end
    is_token = flipped[None] < lengths[:, None]
    m = is_token[:, None, :].repeat(1, T, 1)
    return torch.tril(m)[:, None]


def left_padded_attention(q, k, v, lengths):
    mask = causal_and_padding_mask(lengths, q.shape[-2])
    neg = torch.finfo(q.dtype).min
    scores = torch.matmul(q, k.transpose(-1, -2)).div(math.sqrt(q.shape[-1]))
    probs = scores.masked_fill(mask.logical_not(), neg).softmax(-1)
    out = torch.matmul(probs.mul(mask), v)
    return out
