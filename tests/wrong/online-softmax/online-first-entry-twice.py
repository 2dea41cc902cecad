import torch


def online_softmax(x, block_size):
    m = x[..., 0].float()
    l = torch.ones_like(m)
    N = x.shape[-1]
    for i in range(0, N, block_size):
        b = x[..., i : i + block_size].float()
        hi = torch.maximum(m, b.amax(-1))
        l = torch.exp(m - hi) * l + torch.exp(b - hi[..., None]).sum(-1)
        m = hi
    return m.to(x.dtype), l.to(x.dtype)
