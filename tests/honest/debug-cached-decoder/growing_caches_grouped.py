import torch


def rope(x, positions):
    D = x.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    ang = positions.float()[:, None] * freq
    cos, sin = ang.cos()[:, None], ang.sin()[:, None]
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(x.dtype)


def layer(h, wq, wk, wv, wo, H, G, memory, past):
    B, n, _ = h.shape
    pos = torch.arange(past, past + n, device=h.device)
    q = rope((h @ wq.T).view(B, n, H, -1), pos)
    k = rope((h @ wk.T).view(B, n, G, -1), pos)
    v = (h @ wv.T).view(B, n, G, -1)
    if memory:
        k = torch.cat((memory["k"], k), 1)
        v = torch.cat((memory["v"], v), 1)
    memory["k"], memory["v"] = k, v
    q = q.unflatten(2, (G, H // G))
    s = torch.einsum("bngrd,bmgd->bgrnm", q, k) / q.shape[-1] ** 0.5
    seen = torch.arange(past + n, device=h.device)[None] <= pos[:, None]
    p = s.masked_fill(~seen, float("-inf")).softmax(-1)
    return torch.einsum("bgrnm,bmgd->bngrd", p, v).flatten(2) @ wo.T


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    T = x.shape[1]
    memories = [{} for _ in range(w_q.shape[0])]
    cuts = [0] + list(range(prefill, T, chunk)) + [T]
    outs = []
    for a, b in zip(cuts, cuts[1:]):
        h = x[:, a:b]
        for n, memory in enumerate(memories):
            h = h + layer(h, w_q[n], w_k[n], w_v[n], w_o[n], n_heads, n_kv_heads, memory, a)
        outs.append(h)
    return torch.cat(outs, 1)
