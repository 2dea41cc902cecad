import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    a, b = lse_a.exp(), lse_b.exp()
    z = a + b
    o = (a[..., None] * o_a + b[..., None] * o_b) / z[..., None]
    return o, z.log()
