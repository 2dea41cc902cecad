import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    B, T, _ = x.shape
    c = torch.einsum("btd,rd->btr", x, w_dkv)
    q = torch.einsum("btd,hxd->bhtx", x, w_q.view(n_heads, -1, w_q.shape[1]))
    k = torch.einsum("btr,hxr->bhtx", c, w_uk.view(n_heads, -1, w_uk.shape[1]))
    v = torch.einsum("btr,hyr->bhty", c, w_uv.view(n_heads, -1, w_uv.shape[1]))
    s = torch.einsum("bhtx,bhsx->bhts", q, k) * q.shape[-1] ** -0.5
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
    p = s.masked_fill(future, -torch.inf).softmax(-1)
    y = torch.einsum("bhts,bhsy->bthy", p, v)
    return torch.einsum("bthy,dhy->btd", y, w_o.view(w_o.shape[0], n_heads, -1)), c
