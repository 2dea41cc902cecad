import torch


def causal_mask(t, s):
    grid = torch.zeros(t, s)
    rows = torch.arange(t)
    grid[rows, rows + (s - t)] = 1
    return grid > 0
