import torch


def online_softmax(x, block_size):
    # l may start anywhere: the first correction factor is exp(-inf) = 0
    y = x.float()
    m = torch.full(y.shape[:-1], -torch.inf)
    l = torch.ones(y.shape[:-1])
    n = y.shape[-1]
    i = 0
    while i < n:
        part = y[..., i : min(i + block_size, n)]
        new = torch.max(m, part.max(-1)[0])
        l *= torch.exp(m - new)
        l += torch.exp(part - new[..., None]).sum(-1)
        m = new
        i += block_size
    return m.to(x.dtype), l.to(x.dtype)
