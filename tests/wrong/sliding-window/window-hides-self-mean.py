import torch


def sliding_window_attention(q, k, v, window):
    T, D = q.shape[-2:]
    i = torch.arange(T, device=q.device)
    dist = i[:, None] - i[None, :]
    seen = (dist > 0) & (dist < window)
    scores = (q @ k.transpose(-2, -1) / D**0.5).masked_fill(~seen, torch.finfo(q.dtype).min)
    return scores.softmax(-1) @ v
