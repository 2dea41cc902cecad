import torch
from torch.nn.functional import elu


def linear_attention(q, k, v):
    weights = ((elu(q) + 1) @ (elu(k) + 1).transpose(-2, -1)).tril()
    return weights @ v / weights.sum(dim=-1, keepdim=True)
