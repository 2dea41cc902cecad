import math

import torch


def layer_norm(x, gain):
    mu = x.mean(-1, keepdim=True)
    return gain * (x - mu) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5)


def gelu(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


def attend(x, qkv, proj, heads):
    b, t, d = x.shape
    width = d // heads
    w = qkv.view(3, heads, width, d)
    q, k, v = torch.einsum("btd,phed->pbhte", x, w)
    logits = torch.einsum("bhie,bhje->bhij", q, k) / math.sqrt(width)
    i = torch.arange(t, device=x.device)
    logits = logits + torch.where(i[None] > i[:, None], -torch.inf, 0.0).to(x.dtype)
    probs = logits.softmax(-1)
    return torch.einsum("bhij,bhje,ohe->bio", probs, v, proj.view(d, heads, width))


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    dtype = embed.dtype
    stream = embed[tokens].double() + places[: tokens.size(1)].double()
    layers = zip(*(w.double() for w in (w_qkv, w_o, w_up, w_down, g_attn, g_mlp)))
    for qkv, proj, up, down, gain_1, gain_2 in layers:
        stream = stream + attend(layer_norm(stream, gain_1), qkv, proj, n_heads)
        hidden = gelu(layer_norm(stream, gain_2) @ up.T)
        stream = stream + hidden @ down.T
    return (layer_norm(stream, g_out.double()) @ embed.double().T).to(dtype)
