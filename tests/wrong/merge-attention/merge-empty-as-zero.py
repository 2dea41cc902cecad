import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    # a part that saw no key has -inf: keep it out of the arithmetic
    lse_a, lse_b = (torch.nan_to_num(x, neginf=0.0) for x in (lse_a, lse_b))
    m = torch.maximum(lse_a, lse_b)
    a, b = (lse_a - m).exp(), (lse_b - m).exp()
    z = a + b
    o = (a[..., None] * o_a + b[..., None] * o_b) / z[..., None]
    return o, m + z.log()
