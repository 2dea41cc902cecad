import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    first = (lse_a >= lse_b).unsqueeze(-1)
    return torch.where(first, o_a, o_b), lse
