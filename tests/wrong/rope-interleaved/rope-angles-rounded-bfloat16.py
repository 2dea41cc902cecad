import torch


def apply_rope(x, positions, base=10000.0):
    head_dim = x.shape[-1]
    work = torch.float64 if x.dtype == torch.float64 else torch.float32

    # one frequency for each pair of features
    pair = torch.arange(head_dim // 2, device=x.device, dtype=work)
    freqs = base ** (-2.0 * pair / head_dim)

    # (T, D/2) angles, broadcast over batch and heads
    angles = (positions.to(work).unsqueeze(1) * freqs.unsqueeze(0)).to(torch.bfloat16)
    cos = torch.cos(angles.float())
    sin = torch.sin(angles.float())

    x_work = x.to(work)
    first = x_work[..., 0::2]
    second = x_work[..., 1::2]

    result = torch.empty_like(x_work)
    result[..., 0::2] = first * cos - second * sin
    result[..., 1::2] = first * sin + second * cos
    return result.to(x.dtype)
