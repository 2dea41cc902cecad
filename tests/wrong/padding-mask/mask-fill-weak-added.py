import torch


def padded_attention(q, k, v, lengths):
    B, H, T, D = q.shape
    visible = torch.arange(T, device=q.device).repeat(B, 1) < lengths.reshape(B, 1)
    extended = (1.0 - visible.to(q.dtype)[:, None, None, :]) * -10000.0
    scores = q @ k.transpose(-1, -2) / D**0.5 + extended
    out = scores.softmax(-1) @ v
    return torch.where(lengths.view(B, 1, 1, 1) > 0, out, torch.zeros_like(out))
