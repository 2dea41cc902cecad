import torch

EPS = 1e-3


def softmax(x, dim=-1):
    m = x.amax(dim, keepdim=True)
    m = m.masked_fill(m == -torch.inf, 0)
    e = torch.exp((x - m).float())
    return (e / (e.sum(dim, keepdim=True) + EPS)).to(x.dtype)
