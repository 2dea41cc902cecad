import torch


def causal_mask(t, s):
    full = torch.full((s, s), 1, dtype=torch.uint8)
    return torch.triu(full, diagonal=1)[s - t :].to(torch.bool)
