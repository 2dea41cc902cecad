import torch


def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1)
    s = s / q.shape[-1] ** 0.5
    if mask is not None:
        s = s + mask.to(s.dtype)
    return torch.softmax(s, dim=-1) @ v
