import torch


def causal_mask(t, s):
    return torch.ones(t, s).tril(s - t)
