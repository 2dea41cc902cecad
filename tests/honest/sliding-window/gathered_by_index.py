import math

import torch


def sliding_window_attention(q, k, v, window):
    T = q.shape[2]
    back = torch.arange(min(window, T) - 1, -1, -1)
    index = torch.arange(T).unsqueeze(1) - back  # (T, w), below 0 before the start
    outside = index < 0
    index = index.clamp(min=0)
    k_near = k[:, :, index].double()  # (B, H, T, w, D)
    v_near = v[:, :, index].double()
    s = (k_near @ q.double().unsqueeze(-1)).squeeze(-1) / math.sqrt(q.shape[3])
    s = torch.where(outside, torch.full_like(s, -math.inf), s)
    p = torch.exp(s - s.logsumexp(-1, keepdim=True))
    return (p.unsqueeze(-2) @ v_near).squeeze(-2).to(q.dtype)
