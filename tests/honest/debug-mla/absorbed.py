import torch


def rope(x, positions, base):
    D = x.shape[-1]
    inv = float(base) ** (torch.arange(0, D, 2, device=x.device).float() / -D)
    ang = positions.float()[:, None] * inv
    c, s = torch.cos(ang), torch.sin(ang)
    a, b = x[..., : D // 2].float(), x[..., D // 2 :].float()
    return torch.cat([a * c - b * s, b * c + a * s], -1).to(x.dtype)


def latent_rope_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0):
    B, T, _ = x.shape
    R = w_uk.shape[1]
    up_k = w_uk.unflatten(0, (n_heads, -1))
    up_v = w_uv.unflatten(0, (n_heads, -1))
    D = up_k.shape[1]
    q = torch.einsum("btm,fm->btf", x, w_q).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    down = torch.einsum("btm,fm->btf", x, w_dkv)
    c, kr = down.split([R, down.shape[-1] - R], dim=-1)
    kr = rope(kr, positions, base)
    qc, qr = q[..., :D], rope(q[..., D:], positions, base)
    q_latent = torch.einsum("bhtd,hdr->bhtr", qc, up_k)
    s = torch.einsum("bhtr,bsr->bhts", q_latent, c) + torch.einsum("bhtr,bsr->bhts", qr, kr)
    s = s / q.shape[-1] ** 0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), float("-inf"))
    mixed = torch.einsum("bhts,bsr->bhtr", s.softmax(-1), c)
    heads = torch.einsum("bhtr,hdr->bthd", mixed, up_v)
    return heads.flatten(2) @ w_o.T, torch.cat((c, kr), -1)
