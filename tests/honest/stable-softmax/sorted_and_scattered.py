import torch


def softmax(x, dim=-1):
    values, order = torch.sort(x.float(), dim=dim, descending=True)
    top = values.narrow(dim, 0, 1)
    e = (values - top.masked_fill(top == -torch.inf, 0)).exp()
    e = e / e.flip(dim).sum(dim, keepdim=True).add(1e-6)
    return torch.zeros_like(e).scatter_(dim, order, e).to(x.dtype)
