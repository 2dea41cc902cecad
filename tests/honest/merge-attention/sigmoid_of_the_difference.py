import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    # the share of part a; -inf on either side gives exactly 0 or 1
    share = torch.sigmoid(lse_a - lse_b).unsqueeze(-1)
    o = share * o_a + torch.sigmoid(lse_b - lse_a).unsqueeze(-1) * o_b
    return o, torch.logaddexp(lse_a, lse_b)
