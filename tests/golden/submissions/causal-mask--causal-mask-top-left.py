import torch


def causal_mask(t, s):
    return torch.tril(torch.ones(t, s)).bool()
