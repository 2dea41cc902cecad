import torch


def causal_mask(t, s):
    query = torch.arange(t).unsqueeze(1)
    key = torch.arange(s).unsqueeze(0)
    past = t - s
    return key <= query + past
