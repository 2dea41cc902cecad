import torch


def causal_mask(t, s):
    query = torch.arange(s - t, s).unsqueeze(1)
    key = torch.arange(s).unsqueeze(0)
    return key <= query
