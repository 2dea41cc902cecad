import torch


def causal_mask(t, s):
    mask = torch.zeros(t, s, dtype=torch.bool)
    for i in range(t):
        here = s - t + i
        mask[i, :here] = True
    return mask
