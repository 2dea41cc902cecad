import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    dt = x.dtype
    x, w_q, w_dkv, w_uk, w_uv, w_o = [t.to(torch.float64) for t in (x, w_q, w_dkv, w_uk, w_uv, w_o)]
    latent = torch.einsum("btd,rd->btr", x, w_dkv)
    q = torch.einsum("btd,hd->bth", x, w_q).unflatten(-1, (n_heads, -1))
    k = torch.einsum("btr,hr->bth", latent, w_uv).unflatten(-1, (n_heads, -1))
    v = torch.einsum("btr,hr->bth", latent, w_uk).unflatten(-1, (n_heads, -1))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.size(-1) ** 0.5
    rows = torch.arange(x.size(1), device=x.device).view(-1, 1)
    cols = torch.arange(x.size(1), device=x.device).view(1, -1)
    scores = torch.where(cols <= rows, scores, float("-inf"))
    attn = scores.softmax(-1)
    out = torch.einsum("bhij,bjhv->bihv", attn, v).flatten(2)
    return (out @ w_o.T).to(dt), latent.to(dt)
