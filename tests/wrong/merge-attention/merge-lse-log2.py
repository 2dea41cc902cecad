import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    a, b = lse_a.double(), lse_b.double()
    m = torch.maximum(a, b)
    w_a, w_b = torch.exp(a - m), torch.exp(b - m)
    z = w_a + w_b
    o = (w_a / z)[..., None] * o_a.double() + (w_b / z)[..., None] * o_b.double()
    return o.to(o_a.dtype), (m + torch.log2(z)).to(lse_a.dtype)
