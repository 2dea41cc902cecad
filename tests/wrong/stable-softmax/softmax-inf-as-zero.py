import torch


def softmax(x, dim=-1):
    y = torch.nan_to_num(x, neginf=0.0)
    y = y - y.max(dim=dim, keepdim=True).values
    e = torch.exp(y)
    return e / e.sum(dim=dim, keepdim=True)
