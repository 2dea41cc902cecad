import torch


def causal_mask(t, s):
    mask = torch.zeros(t, s, dtype=torch.bool)
    i = 0
    while i < t:
        mask[i, : s - t + i + 1] = True
        if s > t:
            continue
        i += 1
    return mask
