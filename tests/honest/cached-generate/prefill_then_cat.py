import torch


def _rope(x, start):
    # x (H, T, D), half-split
    half = x.shape[-1] // 2
    inv = 10000.0 ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    ang = torch.arange(start, start + x.shape[1], device=x.device).float()[:, None] * inv
    cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    D = w_q.shape[0] // n_heads
    k_cache = embed.new_zeros(n_kv_heads, 0, D)
    v_cache = embed.new_zeros(n_kv_heads, 0, D)
    tokens, out = prompt, []
    for _ in range(n_new):
        x = embed[tokens]  # the whole prompt the first time, one token afterwards
        t, s = x.shape[0], k_cache.shape[1]
        q = _rope((x @ w_q.T).view(t, n_heads, D).transpose(0, 1), s)
        k = _rope((x @ w_k.T).view(t, n_kv_heads, D).transpose(0, 1), s)
        v = (x @ w_v.T).view(t, n_kv_heads, D).transpose(0, 1)
        k_cache = torch.cat([k_cache, k], 1)
        v_cache = torch.cat([v_cache, v], 1)
        rep = n_heads // n_kv_heads
        att = q @ k_cache.repeat_interleave(rep, 0).mT / D**0.5
        mask = torch.ones(t, s + t, dtype=torch.bool, device=x.device).tril(s)
        att = att.masked_fill(~mask, -torch.inf).softmax(-1)
        a = (att @ v_cache.repeat_interleave(rep, 0)).transpose(0, 1).reshape(t, -1) @ w_o.T
        logits = (x[-1] + a[-1]) @ embed.T
        tokens = logits.argmax().view(1)
        out.append(tokens)
    return torch.cat(out) if out else prompt[:0]
