import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[2]
    scores = (q / D**0.5) @ k.transpose(2, 3)
    if mask is None:
        return scores.softmax(-1) @ v
    shared = mask.expand(B, H, T, S)[:, 0].unsqueeze(1)
    scores = scores.masked_fill(~shared, float("-inf"))
    weights = scores.softmax(-1).masked_fill(~shared, 0.0)
    return weights @ v
