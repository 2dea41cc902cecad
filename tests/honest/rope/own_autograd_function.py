import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Turn(Function):
    @staticmethod
    def forward(ctx, x, cos, sin):
        ctx.save_for_backward(cos, sin)
        a, b = x.float().chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        cos, sin = ctx.saved_tensors
        a, b = g.float().chunk(2, -1)
        return torch.cat((a * cos + b * sin, b * cos - a * sin), -1).to(g.dtype), None, None


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freq = 1.0 / base ** (torch.arange(0, D, 2, dtype=torch.float32) / D)
    angle = torch.outer(positions.to(torch.float32), freq)
    return Turn.apply(x, angle.cos(), angle.sin())
