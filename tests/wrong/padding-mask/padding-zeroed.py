import torch


def padded_attention(q, k, v, lengths):
    T, D = q.shape[2:]
    real = torch.arange(T, device=q.device)[None] < lengths[:, None]
    real = real[:, None, :, None]
    k = k * real
    v = v * real
    w = torch.softmax(q @ k.transpose(2, 3) / D**0.5, dim=-1)
    return w @ v
