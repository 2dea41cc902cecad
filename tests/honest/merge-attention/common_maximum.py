import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    """Shift both by the larger log-sum-exp, then weigh."""
    dtype = o_a.dtype
    o_a, lse_a, o_b, lse_b = (x.to(torch.float32) for x in (o_a, lse_a, o_b, lse_b))
    m = torch.maximum(lse_a, lse_b)
    w_a = torch.exp(lse_a - m)
    w_b = torch.exp(lse_b - m)
    total = w_a + w_b
    o = (w_a / total)[..., None] * o_a + (w_b / total)[..., None] * o_b
    lse = m + torch.log(total)
    return o.to(dtype), lse.to(dtype)
