import torch


def make_causal_mask(t, s):
    return torch.ones(t, s, dtype=torch.bool).tril(s - t)
