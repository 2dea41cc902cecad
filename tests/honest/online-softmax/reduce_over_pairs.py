from functools import reduce

import torch


def online_softmax(x, block_size):
    def summary(block):
        m = block.max(-1).values
        return m, torch.exp(block.double() - m.double().unsqueeze(-1)).sum(-1)

    def join(a, b):
        m = torch.maximum(a[0], b[0])
        wide = m.double()
        return m, a[1] * torch.exp(a[0] - wide) + b[1] * torch.exp(b[0] - wide)

    m, l = reduce(join, map(summary, x.split(block_size, dim=-1)))
    return m, l.to(x.dtype)
