import torch
import torch.nn.functional as F


def merge_attention(o_a, lse_a, o_b, lse_b):
    gate = torch.sigmoid(lse_b - lse_a).unsqueeze(-1)
    o = o_a * (1 - gate) + o_b * gate
    lse = lse_a + F.softplus(lse_b - lse_a)
    return o, lse
