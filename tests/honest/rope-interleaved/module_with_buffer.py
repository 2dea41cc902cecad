import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, head_dim, base):
        super().__init__()
        k = torch.arange(0, head_dim, 2, dtype=torch.float32)
        self.register_buffer("inv_freq", 1.0 / (base ** (k / head_dim)), persistent=False)

    def forward(self, x, positions):
        with torch.no_grad():
            phase = positions.to(self.inv_freq)[:, None] * self.inv_freq
            phase = phase.repeat_interleave(2, dim=-1)
            cos, sin = phase.cos(), phase.sin()
            sign = torch.tensor([-1.0, 1.0]).repeat(x.shape[-1] // 2)
        # swapped neighbours: x1 x0 x3 x2 ...
        swapped = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        return torch.addcmul(x * cos, swapped, sin * sign).to(x.dtype)


def apply_rope(x, positions, base=10000.0):
    return Rotary(x.shape[-1], base).to(x.device)(x, positions)


if __name__ == "__main__":
    x = torch.randn(2, 3, 4, 6)
    assert torch.allclose(apply_rope(x, torch.zeros(4, dtype=torch.int64)), x)
    turned = apply_rope(x, torch.arange(4))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-5)
