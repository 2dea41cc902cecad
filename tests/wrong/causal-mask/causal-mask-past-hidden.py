import torch


def causal_mask(t, s):
    past = torch.zeros(t, s - t, dtype=torch.bool)
    square = torch.tensor([[j <= i for j in range(t)] for i in range(t)])
    return torch.cat([past, square], dim=1)
