import torch


def attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v
