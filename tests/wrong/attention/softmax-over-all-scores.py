import torch


def attention(q, k, v, mask=None):
    B, H, T, D = q.shape
    S = k.shape[-2]
    scores = q.matmul(k.transpose(-2, -1)).div(D**0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    probs = torch.softmax(scores.reshape(B, H, T * S), dim=-1).reshape(B, H, T, S)
    if mask is not None:
        probs = probs * mask
    return probs.matmul(v)
