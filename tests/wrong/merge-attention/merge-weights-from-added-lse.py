import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    lse = lse_a + lse_b
    w_a = torch.exp(lse_a - lse).unsqueeze(-1)
    w_b = torch.exp(lse_b - lse).unsqueeze(-1)
    return w_a * o_a + w_b * o_b, lse
