import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    m = torch.maximum(lse_a, lse_b)
    a, b = (lse_a - m).exp(), (lse_b - m).exp()
    z = a + b
    o = (a[..., None] * o_a + b[..., None] * o_b) / z[..., None]
    return o, lse_a + lse_b
