import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    la, lb = lse_a.double(), lse_b.double()
    lse = torch.logaddexp(la, lb)
    o = torch.einsum("bht,bhtd->bhtd", (la - lse).exp(), o_a.double())
    o += torch.einsum("bht,bhtd->bhtd", (lb - lse).exp(), o_b.double())
    return o.to(o_a.dtype), lse.to(lse_a.dtype)
