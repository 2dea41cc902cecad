from torch import *  # noqa: F403


def causal_mask(t, s):
    mask = zeros(t, s, dtype=bool)  # noqa: F405
    rows, cols = tril_indices(t, s, offset=s - t)  # noqa: F405
    mask[rows, cols] = True
    return mask
