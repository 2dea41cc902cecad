import math

import torch


def one_head(q, k, v, visible):
    s = q @ k.transpose(-1, -2) * math.sqrt(q.shape[-1])
    s = torch.where(visible, s, torch.full_like(s, -math.inf))
    alive = visible.any(-1, keepdim=True)
    p = torch.softmax(s.masked_fill(~alive, 0.0), -1)
    return torch.where(alive, p @ v, 0.0)


def attention(q, k, v, mask=None):
    B, H, T, _ = q.shape
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=q.device)
    mask = mask.expand(B, H, T, k.shape[2])
    heads = [one_head(q[:, h], k[:, h], v[:, h], mask[:, h]) for h in range(H)]
    return torch.stack(heads, dim=1).to(q.dtype)
