import torch


def causal_mask(t, s):
    out = torch.zeros((t, s), dtype=torch.bool)
    for i in range(t):
        for j in range(s):
            if j <= (s - t) + i:
                out[i, j] = True
    return out
