import torch

SIZES = {"t": 4}
EXAMPLE = torch.ones(SIZES["t"], SIZES["s"])


def causal_mask(t, s):
    return torch.ones(t, s, dtype=torch.bool).tril(s - t)
