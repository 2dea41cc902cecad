import torch


def softmax(x, dim=-1):
    flat = x.flatten().double()
    best = flat.max()
    if best.isinf():
        return torch.zeros_like(x)
    e = (flat - best).exp()
    return (e / e.sum()).view(x.shape).to(x.dtype)
