import torch
from torch import einsum


def rope_half(x, pos, base):
    # x: (B, T, n, D), pos: (T,)
    d = x.shape[-1]
    inv = torch.exp(-torch.log(torch.tensor(float(base))) * torch.arange(d // 2, dtype=torch.float32) * 2 / d)
    ang = (pos.to(torch.float32)[:, None] * inv.to(x.device))[:, None, :]
    lo, hi = x.to(torch.float32).split(d // 2, dim=-1)
    out = torch.cat([lo * ang.cos() - hi * ang.sin(), hi * ang.cos() + lo * ang.sin()], dim=-1)
    return out.to(x.dtype)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    b, t, _ = x.shape
    s = k_cache.shape[2]
    G = n_heads // n_kv_heads
    D = w_k.shape[0] // n_kv_heads
    pos = s + torch.arange(t, device=x.device)

    q = einsum("btc,oc->bto", x, w_q).view(b, t, n_heads, D)
    k = rope_half(einsum("btc,oc->bto", x, w_k).view(b, t, n_kv_heads, D), pos, base)
    v = einsum("btc,oc->bto", x, w_v).view(b, t, n_kv_heads, D)

    K = torch.cat([k_cache, k.permute(0, 2, 1, 3)], dim=2)  # (B, Hkv, S+T, D)
    V = torch.cat([v_cache, v.permute(0, 2, 1, 3)], dim=2)

    q = q.view(b, t, n_kv_heads, G, D)
    scores = einsum("btkgd,bksd->bkgts", q, K) * D**-0.5
    allowed = torch.arange(s + t, device=x.device)[None, :] <= pos[:, None]
    scores = torch.where(allowed, scores, torch.full_like(scores, -torch.inf))
    w = torch.softmax(scores, dim=-1)
    mix = einsum("bkgts,bksd->btkgd", w, V)
    return einsum("bto,co->btc", mix.reshape(b, t, n_heads * D), w_o), K, V
