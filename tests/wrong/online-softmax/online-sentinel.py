import torch

LOWEST = -1e4


def online_softmax(x, block_size):
    m = x.new_full(x.shape[:-1], LOWEST, dtype=torch.float64)
    l = torch.zeros_like(m)
    for block in torch.split(x, block_size, dim=-1):
        block = block.double()
        top = block.max(-1).values.maximum(m)
        l = l * (m - top).exp() + (block - top[..., None]).exp().sum(-1)
        m = top
    return m.to(x.dtype), l.to(x.dtype)
