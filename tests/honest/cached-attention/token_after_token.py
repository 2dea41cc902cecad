import torch


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    # a token never sees a later one, so feed them one by one and no mask is needed
    B, T = x.shape[:2]
    D = k_cache.shape[-1]
    kv_of = torch.arange(n_heads) // (n_heads // n_kv_heads)
    i = torch.arange(D // 2, dtype=torch.float64)
    freq = float(base) ** (-2 * i / D)
    outs = []
    for t in range(T):
        token = x[:, t]
        angle = k_cache.size(2) * freq
        turn = torch.polar(torch.ones_like(angle), angle)

        def spin(z):
            first, second = z.double().chunk(2, -1)
            turned = torch.complex(first, second) * turn
            return torch.cat([turned.real, turned.imag], -1).to(z.dtype)

        q = spin((token @ w_q.mT).view(B, n_heads, 1, D))
        k = spin((token @ w_k.mT).view(B, n_kv_heads, 1, D))
        v = (token @ w_v.mT).view(B, n_kv_heads, 1, D)
        k_cache = torch.cat((k_cache, k), 2)
        v_cache = torch.cat((v_cache, v), 2)
        scores = (q * k_cache[:, kv_of]).sum(-1) / D**0.5
        p = scores.float().softmax(-1).to(x.dtype)
        mix = (p.unsqueeze(-1) * v_cache[:, kv_of]).sum(-2)
        outs.append(mix.flatten(1) @ w_o.mT)
    return torch.stack(outs, 1), k_cache, v_cache
