import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    outs = torch.stack([o_a, o_b]).float()  # (2, B, H, T, D)
    lses = torch.stack([lse_a, lse_b]).float()  # (2, B, H, T)
    w = torch.softmax(lses, dim=0)
    o = torch.einsum("pbht,pbhtd->bhtd", w, outs)
    lse = torch.einsum("pbht,pbht->bht", w, lses)
    return o.to(o_a.dtype), lse.to(lse_a.dtype)
