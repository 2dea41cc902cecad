import torch


def online_softmax(x, block_size):
    m = l = None
    for start in range(0, x.shape[-1], block_size):
        block = x[..., start : start + block_size]
        b = block.max(dim=-1).values
        r = (block - b.unsqueeze(-1)).exp().sum(dim=-1)
        if m is None:
            m, l = b, r
            continue
        top = torch.where(b > m, b, m)
        l = (m - top).exp() * l + (b - top).exp() * r
        m = top
    return m, l
