import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    gate = torch.sigmoid(lse_b - lse_a).unsqueeze(-1)
    o = o_a * (1 - gate) + o_b * gate
    lse = lse_a + torch.log(1 + torch.exp(lse_b - lse_a))
    return o, lse
