import torch


def softmax(x, dim=-1):
    shifted = x - x.abs().amax(dim=dim, keepdim=True)
    weights = shifted.exp()
    weights = weights / weights.sum(dim=dim, keepdim=True)
    return weights.masked_fill((x == float("-inf")).all(dim=dim, keepdim=True), 0)
