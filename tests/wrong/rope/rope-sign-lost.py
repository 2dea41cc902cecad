import torch


def swap_halves(x):
    h = x.shape[-1] // 2
    return torch.cat((x[..., h:], x[..., :h]), -1)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    freqs = torch.pow(base, -torch.arange(0, D, 2, device=x.device).float() / D)
    emb = positions.float().view(-1, 1) * torch.cat((freqs, freqs))
    xf = x.float()
    return (xf * emb.cos() + swap_halves(xf) * emb.sin()).type_as(x)
