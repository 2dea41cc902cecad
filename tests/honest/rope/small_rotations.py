import math

import torch


def apply_rope(x, positions, base=10000.0):
    """2 x 2 matrices made of Python floats, one a token and pair."""
    D = x.shape[-1]
    rows = []
    for p in positions.tolist():
        for i in range(D // 2):
            a = p / base ** (2 * i / D)
            rows.append([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    R = torch.tensor(rows, dtype=torch.float64).reshape(len(positions), D // 2, 2, 2)
    pairs = torch.stack(torch.tensor_split(x.double(), 2, -1), -1).unsqueeze(-1)
    return (R @ pairs).squeeze(-1).transpose(-1, -2).flatten(-2).to(x.dtype)
