import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    d = x.shape[-1]
    R = w_dkv.shape[0]
    up_k = w_uk.reshape(n_heads, -1, R)
    up_v = w_uv.reshape(n_heads, -1, R)
    head_dim = up_k.shape[1]

    latent = torch.einsum("btc,rc->btr", x, w_dkv)
    q = torch.einsum("btc,hec->bhte", x, w_q.reshape(n_heads, head_dim, d))
    q_latent = torch.einsum("bhte,her->bhtr", q, up_k)
    scores = torch.einsum("bhtr,bsr->bhts", q_latent, latent)

    i = torch.arange(x.shape[1], device=x.device)
    scores = scores.masked_fill(i[None, :] > i[:, None], -torch.inf)
    weights = scores.softmax(dim=-1)

    mixed = torch.einsum("bhts,bsr->bhtr", weights, latent)
    heads = torch.einsum("bhtr,hvr->bthv", mixed, up_v)
    return heads.flatten(2) @ w_o.T, latent
