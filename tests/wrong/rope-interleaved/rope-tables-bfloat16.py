import torch


def _table(positions, width, base):
    with torch.no_grad():
        k = torch.arange(width // 2, dtype=torch.float32)
        theta = positions[:, None].float() * torch.pow(torch.tensor(float(base)), -2.0 * k / width)
        return torch.cos(theta).to(torch.bfloat16), torch.sin(theta).to(torch.bfloat16)


def apply_rope(x, positions, base=10000.0):
    c, s = _table(positions, x.size(-1), base)
    even = x[..., ::2]
    odd = x[..., 1::2]
    out = torch.empty_like(x)
    out[..., ::2] = even * c.to(x.dtype) - odd * s.to(x.dtype)
    out[..., 1::2] = even * s.to(x.dtype) + odd * c.to(x.dtype)
    return out
