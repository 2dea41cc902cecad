import torch
import torch.nn.functional as F


def causal_mask(t, s):
    square = torch.ones(t, t).tril()
    return F.pad(square, (s - t, 0), value=1.0).bool()
