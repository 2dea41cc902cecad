import torch


def causal_mask(t, s):
    future = torch.triu(torch.ones(s, s), 1)
    return future[-t:] == 0
