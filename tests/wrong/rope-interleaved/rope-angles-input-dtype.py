import torch
import torch.nn as nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        exponent = torch.arange(0, dim, 2, dtype=torch.float32) / dim
        self.register_buffer("inv_freq", base**-exponent)

    def forward(self, positions):
        pos = positions.to(self.inv_freq.dtype)
        freqs = (pos.unsqueeze(-1) * self.inv_freq).float()
        return freqs.cos(), freqs.sin()


def rotate(x, cos, sin):
    x_even, x_odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    new_even = x_even * cos - x_odd * sin
    new_odd = x_odd * cos + x_even * sin
    return torch.stack((new_even, new_odd), dim=-1).flatten(-2)


def apply_rope(x, positions, base=10000.0):
    rope = RotaryEmbedding(x.size(-1), base).to(x)
    cos, sin = rope(positions)
    return rotate(x.float(), cos, sin).to(x.dtype)
