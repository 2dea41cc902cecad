import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    """Copy the rows where only one part saw keys; work only on the others."""
    o, lse = o_a.clone(), lse_a.clone()
    only_b = torch.isneginf(lse_a)
    o[only_b], lse[only_b] = o_b[only_b], lse_b[only_b]
    both = torch.isfinite(lse_a) & torch.isfinite(lse_b)
    la, lb = lse_a[both].float(), lse_b[both].float()  # (n,)
    top = torch.stack((la, lb), -1).amax(-1)
    ea, eb = torch.exp2((la - top) * 1.4426950408889634), torch.exp2((lb - top) * 1.4426950408889634)
    norm = ea + eb
    mixed = torch.addcdiv(ea[:, None] * o_a[both].float() / norm[:, None], eb[:, None] * o_b[both].float(), norm[:, None])
    o[both] = mixed.to(o.dtype)
    lse[both] = (top + norm.log()).to(lse.dtype)
    return o, lse
