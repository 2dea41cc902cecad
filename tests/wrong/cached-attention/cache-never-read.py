import torch


def rot(x, p, base):
    n = x.size(-1) // 2
    f = base ** (-torch.arange(n, device=x.device, dtype=torch.float64) / n)
    c, s = (g(p[:, None] * f).to(x.dtype) for g in (torch.cos, torch.sin))
    a, b = x[..., :n], x[..., n:]
    return torch.cat((a * c - b * s, a * s + b * c), -1)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    S = k_cache.size(2)
    q = (x @ w_q.T).view(B, T, n_heads, -1).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    p = torch.arange(S, S + T, device=x.device)
    q, k = rot(q, p, base), rot(k, p, base)
    K, V = torch.cat((k_cache, k), 2), torch.cat((v_cache, v), 2)
    g = n_heads // n_kv_heads
    s = q @ k.repeat_interleave(g, 1).mT / q.size(-1) ** 0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), -torch.inf)
    o = s.softmax(-1) @ v.repeat_interleave(g, 1)
    return o.transpose(1, 2).flatten(2) @ w_o.T, K, V
