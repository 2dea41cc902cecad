import math

import torch


def one_row(values):
    top = max(values)
    if top == -math.inf:
        return [0.0] * len(values)
    exps = [math.exp(v - top) for v in values]
    total = sum(exps)
    return [e / total for e in exps]


def softmax(x, dim=-1):
    moved = x.movedim(dim, -1)
    rows = moved.reshape(-1, moved.shape[-1]).to(torch.float64).tolist()
    out = torch.tensor([one_row(r) for r in rows], dtype=torch.float64)
    return out.reshape(moved.shape).movedim(-1, dim).to(x.dtype)


if __name__ == "__main__":
    print(softmax(torch.randn(3, 4)))
