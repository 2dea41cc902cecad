import torch


def sliding_window_attention(q, k, v, window):
    T, D = q.shape[-2:]
    i = torch.arange(T, device=q.device)
    distance = i[:, None] - i[None, :]
    near = (distance >= 0) & (distance < window)
    scores = q @ k.transpose(-2, -1) / D**0.5
    scores = scores.masked_fill(near.logical_not(), float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
