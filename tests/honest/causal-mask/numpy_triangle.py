import numpy as np
import torch


def causal_mask(t, s):
    return torch.from_numpy(np.tri(t, s, s - t, dtype=bool))
