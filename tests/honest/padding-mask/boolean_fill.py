import torch


def padded_attention(q, k, v, lengths):
    T = k.shape[2]
    visible = (torch.arange(T) < lengths[:, None])[:, None, None, :]
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    p = s.masked_fill(~visible, float("-inf")).softmax(-1)
    return torch.nan_to_num(p, nan=0.0) @ v
