import torch
import torch.nn.functional as F


def merge_attention(o_a, lse_a, o_b, lse_b):
    gap = (lse_b - lse_a).float()
    weight_b = torch.special.expit(gap).unsqueeze(-1)
    # what an empty part holds is to be ignored
    a = o_a.float().masked_fill((lse_a == -torch.inf).unsqueeze(-1), 0.0)
    b = o_b.float().masked_fill((lse_b == -torch.inf).unsqueeze(-1), 0.0)
    o = a.lerp(b, weight_b)
    # max(a, b) + log(1 + exp(-|a - b|)); the gap is infinite where a part is empty
    lse = torch.max(lse_a.float(), lse_b.float()) + F.softplus(-gap.abs())
    return o.to(o_a.dtype), lse.to(lse_a.dtype)
