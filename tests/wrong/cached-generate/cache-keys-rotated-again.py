import torch


def rope(x, start, base=10000.0):  # x: (n, T, D)
    T, D = x.shape[-2:]
    inv = base ** (-torch.arange(0, D, 2, device=x.device).float() / D)
    ang = torch.arange(start, start + T, device=x.device).float()[:, None] * inv
    c, s = ang.cos(), ang.sin()
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * c - b * s, a * s + b * c), -1).to(x.dtype)


def attend(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, past):
    T = x.shape[0]
    q = (x @ w_q.T).view(T, n_heads, -1).transpose(0, 1)
    k = (x @ w_k.T).view(T, n_kv_heads, -1).transpose(0, 1)
    v = (x @ w_v.T).view(T, n_kv_heads, -1).transpose(0, 1)
    S = 0 if past is None else past[0].shape[1]
    if past is not None:
        k = torch.cat((past[0], k), 1)
        v = torch.cat((past[1], v), 1)
    q, k = rope(q, S), rope(k, 0)
    kk, vv = (t.repeat_interleave(n_heads // n_kv_heads, 0) for t in (k, v))
    s = q @ kk.mT / q.shape[-1] ** 0.5
    s = s.masked_fill(~torch.ones(T, S + T, dtype=torch.bool, device=x.device).tril(S), -torch.inf)
    o = (s.softmax(-1) @ vv).transpose(0, 1).flatten(1)
    return o @ w_o.T, (k, v)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    tokens, past, out = prompt, None, []
    for _ in range(n_new):
        x = embed[tokens]
        a, past = attend(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, past)
        tokens = ((x[-1] + a[-1]) @ embed.T).argmax(-1, keepdim=True)
        out.append(tokens)
    return torch.cat(out)
