import torch


def precompute_freqs_cis(positions, dim, theta):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2, device=positions.device)[: dim // 2].float() / dim))
    freqs = torch.outer(positions.float(), freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rope(x, positions, base=10000.0):
    cis = precompute_freqs_cis(positions, x.shape[-1], base)
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    x_out = torch.view_as_real(x_ * cis * cis).flatten(3)
    return x_out.type_as(x)
