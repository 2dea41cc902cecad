import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    dtype = x.dtype
    X = x.double()
    b, t, _ = x.shape
    s, hd = k_cache.shape[2], k_cache.shape[3]
    K = torch.zeros(b, n_kv_heads, s + t, hd, dtype=torch.float64)
    V = torch.zeros(b, n_kv_heads, s + t, hd, dtype=torch.float64)
    K[:, :, :s] = k_cache.double()
    V[:, :, :s] = v_cache.double()
    for g in range(n_kv_heads):
        rows = slice(g * hd, (g + 1) * hd)
        K[:, g, :t] = X @ w_k[rows].double().T
        V[:, g, :t] = X @ w_v[rows].double().T
    hidden = torch.arange(s + t).unsqueeze(0) > torch.arange(s, s + t).unsqueeze(1)
    parts = []
    for h in range(n_heads):
        g = h // (n_heads // n_kv_heads)
        q = X @ w_q[h * hd : (h + 1) * hd].double().T
        sc = torch.bmm(q, K[:, g].transpose(1, 2)) * hd**-0.5
        sc[:, hidden] = -torch.inf
        parts.append(torch.bmm(torch.softmax(sc, 2), V[:, g]))
    out = torch.cat(parts, dim=2) @ w_o.double().T
    return out.to(dtype), K.to(dtype), V.to(dtype)
