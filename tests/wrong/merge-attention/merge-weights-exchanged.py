import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    gate = torch.sigmoid(lse_b - lse_a).unsqueeze(-1)
    o = o_a * gate + o_b * (1 - gate)
    lse = torch.maximum(lse_a, lse_b) + torch.log1p(torch.exp(-(lse_a - lse_b).abs()))
    return o, lse
