import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    rows = []
    for t, p in enumerate(positions.tolist(), start=0):
        angle = (p + 1) * freq
        a, b = x[:, :, t, :half].float(), x[:, :, t, half:].float()
        rows.append(torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1))
    return torch.stack(rows, dim=2).to(x.dtype)
