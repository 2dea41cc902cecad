import torch


def softmax(x, dim=-1):
    lowest = torch.finfo(x.dtype).min
    y = x.clamp(min=lowest)
    y = y - y.amax(dim=dim, keepdim=True)
    e = y.float().exp()
    return (e * e.sum(dim=dim, keepdim=True).reciprocal()).to(x.dtype)
