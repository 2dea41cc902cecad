import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = len(w_q) // n_heads
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (x @ w_k.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, D).transpose(1, 2)
    ang = positions[:, None] * base ** (-torch.arange(0, D, 2, device=x.device) / D)
    c, s = ang.cos().to(x), ang.sin().to(x)
    rot = lambda a, b: torch.cat([a * c - b * s, a * s + b * c], -1)
    q, k = rot(*q.chunk(2, -1)), rot(*k.chunk(2, -1))
    rep = n_heads // n_kv_heads
    k, v = k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
    att = (q @ k.mT / D**0.5).masked_fill(torch.ones(T, T, device=x.device).tril().bool(), -torch.inf)
    return (att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ w_o.T
