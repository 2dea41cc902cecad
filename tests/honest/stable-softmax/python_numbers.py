import math

import torch


def _row(values):
    top = max(values)
    if top == -math.inf:
        return [0.0] * len(values)
    e = [math.exp(v - top) for v in values]
    total = math.fsum(e)
    return [v / total for v in e]


def softmax(x, dim=-1):
    rows = x.movedim(dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    done = torch.tensor([_row(row) for row in flat.tolist()], dtype=x.dtype)
    return done.reshape(rows.shape).movedim(-1, dim)
