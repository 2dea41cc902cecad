import functools
import math

import torch


@functools.lru_cache(maxsize=None)
def frequencies(width: int, base: float) -> torch.Tensor:
    return torch.tensor([math.exp(-2 * i / width * math.log(base)) for i in range(width // 2)])


def apply_rope(x, positions, base=10000.0):
    angle = torch.multiply(positions.reshape(1, 1, -1, 1), frequencies(x.shape[-1], base))
    pair = x.float().reshape(*x.shape[:-1], 2, -1).movedim(-2, 0)
    c, s = torch.cos(angle), torch.sin(angle)
    first = torch.addcmul(pair[0] * c, pair[1], s, value=-1)
    second = torch.addcmul(pair[1] * c, pair[0], s)
    return torch.stack((first, second), dim=-2).flatten(-2).to(x.dtype)
