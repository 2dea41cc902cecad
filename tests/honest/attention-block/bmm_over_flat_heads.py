import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    wide = torch.promote_types(x.dtype, torch.float32)
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    share = torch.arange(n_heads).div(n_heads // n_kv_heads, rounding_mode="floor")

    def project(w, n):
        y = torch.mm(x.reshape(B * T, -1).to(wide), w.to(wide).t())
        return y.reshape(B, T, n, D).permute(0, 2, 1, 3)

    # repeating rotation angles over both halves with a signed swap of the halves
    inv = torch.arange(D) % (D // 2)
    inv = base ** (-2.0 * inv.to(wide) / D)
    ang = positions.to(wide)[:, None] * inv
    sign = torch.cat([-torch.ones(D // 2), torch.ones(D // 2)]).to(wide)

    def spin(y):
        return y * ang.cos() + y.roll(D // 2, dims=-1) * sign * ang.sin()

    q = spin(project(w_q, n_heads)).reshape(B * n_heads, T, D)
    k = spin(project(w_k, n_kv_heads)).index_select(1, share).reshape(B * n_heads, T, D)
    v = project(w_v, n_kv_heads).index_select(1, share).reshape(B * n_heads, T, D)

    bias = torch.full((T, T), torch.finfo(wide).min, dtype=wide).triu(1).unsqueeze(0)
    s = torch.baddbmm(bias, q, k.transpose(1, 2), beta=1.0, alpha=D**-0.5)
    p = torch.exp(s - torch.logsumexp(s, 2, keepdim=True))
    o = torch.bmm(p, v).reshape(B, n_heads, T, D).permute(0, 2, 1, 3).reshape(B * T, -1)
    return torch.mm(o, w_o.to(wide).t()).reshape(B, T, -1).to(x.dtype)
