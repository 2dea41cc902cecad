import torch


def spin(x, positions, base):
    """x: (..., T, D_r) in float64."""
    n = x.shape[-1]
    speed = torch.pow(
        torch.tensor(float(base), dtype=torch.float64),
        -2 * torch.arange(n // 2, dtype=torch.float64) / n,
    ).to(x.device)
    phase = torch.einsum("t,i->ti", positions.double(), speed)
    z = torch.complex(x[..., : n // 2].contiguous(), x[..., n // 2 :].contiguous())
    z = z * torch.polar(torch.ones_like(phase), phase)
    return torch.cat([z.real, z.imag], -1)


def latent_rope_attention(
    x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0
):
    dtype = x.dtype
    x, w_q, w_dkv, w_uk, w_uv, w_o = (t.double() for t in (x, w_q, w_dkv, w_uk, w_uv, w_o))
    B, T, d = x.shape
    R = w_uk.shape[1]
    Dr = w_dkv.shape[0] - R
    D = w_uk.shape[0] // n_heads
    Dv = w_uv.shape[0] // n_heads
    wq = w_q.reshape(n_heads, D + Dr, d)
    uk = w_uk.reshape(n_heads, D, R)
    uv = w_uv.reshape(n_heads, Dv, R)
    wo = w_o.reshape(d, n_heads, Dv)

    down = torch.einsum("btm,rm->btr", x, w_dkv)
    c = down[..., :R]
    kr = spin(down[..., R:], positions, base)
    qc = torch.einsum("btm,hem->bhte", x, wq[:, :D])
    qr = spin(torch.einsum("btm,hem->bhte", x, wq[:, D:]), positions, base)

    absorbed = torch.einsum("bhte,her->bhtr", qc, uk)
    s = torch.einsum("bhtr,bsr->bhts", absorbed, c) + torch.einsum("bhte,bse->bhts", qr, kr)
    s = s * (D + Dr) ** -0.5
    t = torch.arange(T, device=x.device)
    s = torch.where(t[None, :] < t[:, None], s, float("-inf"))
    p = torch.softmax(s, -1)
    mixed = torch.einsum("bhts,bsr->bhtr", p, c)
    o = torch.einsum("bhtr,hvr->bhtv", mixed, uv)
    out = torch.einsum("bhtv,mhv->btm", o, wo)
    return out.to(dtype), torch.cat((c, kr), -1).to(dtype)
