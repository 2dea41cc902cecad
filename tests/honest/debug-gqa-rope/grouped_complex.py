import torch


def turn(x, positions, base):
    D = x.shape[-1]
    freq = float(base) ** (-torch.arange(D // 2, device=x.device).float() * 2 / D)
    angle = positions.float()[:, None] * freq
    spin = torch.polar(torch.ones_like(angle), angle)[:, None]
    a, b = x.float().split(D // 2, dim=-1)
    z = torch.complex(a, b) * spin
    return torch.cat((z.real, z.imag), dim=-1)


def rope_gqa(q, k, v, positions, base=10000.0):
    B, T, H, D = q.shape
    n_kv = k.shape[2]
    qr = turn(q, positions, base).unflatten(2, (n_kv, H // n_kv))
    kr = turn(k, positions, base)
    s = torch.einsum("btgrd,bsgd->bgrts", qr, kr) / D**0.5
    hidden = torch.arange(T, device=q.device)[None, :] > torch.arange(T, device=q.device)[:, None]
    s[..., hidden] = -torch.inf
    p = torch.softmax(s, -1)
    return torch.einsum("bgrts,bsgd->btgrd", p, v.float()).flatten(2, 3).to(q.dtype)
