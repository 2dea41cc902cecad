import torch


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], -torch.inf, dtype=torch.float64, device=x.device)
    l = torch.zeros_like(m)
    for b in x.split(block_size, dim=-1):
        new = torch.maximum(m, b.double().amax(-1))
        l *= torch.exp(m - new)
        l += torch.exp(b.double() - new[..., None]).sum(-1)
        m = new
    return m.to(x.dtype), l.log().to(x.dtype)
