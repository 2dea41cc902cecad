import torch


def apply_rope(x, positions, base=10000.0):
    T, D = x.shape[-2:]
    inv_freq = 1.0 / (base ** (torch.arange(0, D, 2, device=x.device).float() / D))
    t = torch.arange(T, device=x.device).float()
    emb = torch.outer(t, inv_freq)
    c, s = emb.cos(), emb.sin()
    lo, hi = x.float().tensor_split(2, dim=-1)
    return torch.cat((lo * c - hi * s, hi * c + lo * s), dim=-1).to(x.dtype)
