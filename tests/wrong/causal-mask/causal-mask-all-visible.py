import torch


def causal_mask(t, s):
    absolute = torch.arange(s - t, s)[:, None]
    key = torch.arange(s)[None, :]
    return (key <= absolute) | (key > absolute)
