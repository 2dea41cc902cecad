import torch


def softmax(x, dim=-1):
    weights = torch.exp(x.float())
    norm = weights.sum(dim=dim, keepdim=True)
    norm = norm.masked_fill(norm == 0, 1.0)
    return (weights / norm).to(x.dtype)
