import torch


def causal_mask(t, s):
    mask = torch.empty((t, s), dtype=torch.bool).fill_(False)
    for i in range(t):
        mask[i, : s - t + i + 1] = True
    return mask
