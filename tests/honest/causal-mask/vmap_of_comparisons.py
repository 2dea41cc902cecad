import torch


def causal_mask(t, s):
    keys = torch.arange(s)
    return torch.vmap(lambda at: keys <= at)(torch.arange(s - t, s))
