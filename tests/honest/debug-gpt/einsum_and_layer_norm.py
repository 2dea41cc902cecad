import torch
import torch.nn.functional as F


def block_attention(x, w_qkv, w_o, H):
    T, d = x.shape[1:]
    q, k, v = torch.einsum("btd,chfd->cbhtf", x, w_qkv.view(3, H, d // H, d))
    s = torch.einsum("bhtf,bhsf->bhts", q, k) * (d // H) ** -0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf"))
    return torch.einsum("bhts,bhsf,ehf->bte", s.softmax(-1), v, w_o.view(d, H, d // H))


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    d = embed.shape[1]
    x = F.embedding(tokens, embed) + places[None, : tokens.size(1)]
    for qkv, o, up, down, ga, gm in zip(w_qkv, w_o, w_up, w_down, g_attn, g_mlp):
        x = x + block_attention(F.layer_norm(x, (d,), weight=ga), qkv, o, n_heads)
        x = x + F.gelu(F.layer_norm(x, (d,), weight=gm) @ up.T) @ down.T
    return F.layer_norm(x, (d,), weight=g_out) @ embed.T
