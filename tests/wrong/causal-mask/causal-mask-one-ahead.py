import torch


def causal_mask(t, s):
    blocked = torch.ones(t, s, dtype=torch.bool).triu(diagonal=s - t + 2)
    return ~blocked
