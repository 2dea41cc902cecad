import torch


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    dt, dev = x.dtype, x.device
    xd = x.double()
    Wq, Wk, Wv, Wo = w_q.double(), w_k.double(), w_v.double(), w_o.double()
    nb, nt = x.shape[:2]
    hd = Wq.shape[0] // n_heads
    rep = n_heads // n_kv_heads
    offset = k_cache.shape[-2]

    def heads(y, n):
        return y.reshape(nb, nt, n, hd).permute(0, 2, 1, 3)

    positions = torch.arange(offset + nt, dtype=torch.float64, device=dev)
    theta = float(base) ** (-2.0 * torch.arange(hd // 2, dtype=torch.float64, device=dev) / hd)
    cos, sin = torch.cos(positions[:, None] * theta), torch.sin(positions[:, None] * theta)

    def rope(y, cos, sin):
        y1, y2 = torch.chunk(y, 2, dim=-1)
        return torch.cat((y1 * cos - y2 * sin, y1 * sin + y2 * cos), dim=-1)

    Q = rope(heads(xd @ Wq.T, n_heads), cos[:nt], sin[:nt])
    K_new = rope(heads(xd @ Wk.T, n_kv_heads), cos[offset:], sin[offset:])
    V_new = heads(xd @ Wv.T, n_kv_heads)
    K = torch.cat([k_cache.double(), K_new], dim=2)
    V = torch.cat([v_cache.double(), V_new], dim=2)

    Kr = K.unsqueeze(2).repeat(1, 1, rep, 1, 1).flatten(1, 2)
    Vr = V.unsqueeze(2).repeat(1, 1, rep, 1, 1).flatten(1, 2)
    bias = torch.zeros(nt, offset + nt, dtype=torch.float64, device=dev)
    future = torch.ones_like(bias).triu(offset + 1).bool()
    bias[future] = float("-inf")
    logits = Q @ Kr.transpose(-1, -2) / hd**0.5 + bias
    A = torch.softmax(logits, dim=-1)
    Y = (A @ Vr).permute(0, 2, 1, 3).reshape(nb, nt, n_heads * hd)
    return (Y @ Wo.T).to(dt), K.to(dt), V.to(dt)
