import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    a, b = lse_a.float(), lse_b.float()
    w_a, w_b = torch.ones_like(a), torch.exp(b - a)
    z = w_a + w_b
    o = (w_a / z)[..., None] * o_a.float() + (w_b / z)[..., None] * o_b.float()
    return o.to(o_a.dtype), (a + torch.log(z)).to(lse_a.dtype)
