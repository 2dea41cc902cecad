import torch
import torch.nn as nn


class Rotary(nn.Module):
    def __init__(self, positions, width, base):
        super().__init__()
        steps = torch.arange(0, width, 2, dtype=torch.float64)
        angle = torch.outer(positions.double(), 1.0 / base ** (steps / width))
        angle = torch.cat((angle, angle), dim=-1)
        self.register_buffer("cos", angle.cos().bfloat16())
        self.register_buffer("sin", angle.sin().bfloat16())

    def forward(self, x):
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
        return (x.float() * self.cos + turned.float() * self.sin).to(x.dtype)


def apply_rope(x, positions, base=10000.0):
    return Rotary(positions, x.shape[-1], base)(x)
