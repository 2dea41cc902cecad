import torch
from torch import einsum


def rotary_complex(x, positions):
    # x: (T, n, D); the pair (i, i + D/2) is one complex number
    d = x.shape[-1]
    inv = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float32) / d)
    phase = torch.outer(positions.float(), inv)
    turn = torch.polar(torch.ones_like(phase), phase)[:, None]
    z = torch.complex(*x.float().chunk(2, dim=-1)) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


def forward(ids, cache, embed, w_q, w_v, w_k, w_o, n_heads, n_kv_heads):
    x = embed[ids]
    t = x.shape[0]
    offset = cache["k"].shape[0]
    pos = torch.arange(offset, offset + t, device=x.device)
    D = w_q.shape[0] // n_heads
    q = einsum("td,od->to", x, w_q).view(t, n_heads, D)
    k = einsum("td,od->to", x, w_k).view(t, n_kv_heads, D)
    v = einsum("td,od->to", x, w_v).view(t, n_kv_heads, D)
    q = rotary_complex(q, pos)
    k = rotary_complex(k, pos)
    cache["k"] = torch.cat([cache["k"], k])
    cache["v"] = torch.cat([cache["v"], v])

    q = q.view(t, n_kv_heads, n_heads // n_kv_heads, D)
    s = einsum("tkgd,skd->kgts", q, cache["k"]) * D**-0.5
    s = s + torch.full((t, offset + t), -torch.inf, device=x.device).triu(offset + 1)
    y = einsum("kgts,skd->tkgd", s.softmax(-1), cache["v"]).reshape(t, n_heads * D)
    return einsum("td,vd->tv", x + einsum("to,do->td", y, w_o), embed)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    params = [w.float() for w in (embed, w_q, w_k, w_v, w_o)]
    D = w_q.shape[0] // n_heads
    empty = torch.zeros(0, n_kv_heads, D, device=embed.device)
    cache = {"k": empty, "v": empty}
    logits = forward(prompt, cache, *params, n_heads, n_kv_heads)
    generated = [logits[-1].argmax()]
    for _ in range(n_new - 1):
        logits = forward(generated[-1].reshape(1), cache, *params, n_heads, n_kv_heads)
        generated.append(logits[-1].argmax())
    return torch.stack(generated)
