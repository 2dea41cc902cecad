import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(half, device=x.device).float() / half)
    angle = positions[:, None].float() * freq[None]
    out = x.float().clone()
    first = x[..., :half].float()
    out[..., :half] = first * angle.cos() - x[..., half:].float() * angle.sin()
    return out.to(x.dtype)
