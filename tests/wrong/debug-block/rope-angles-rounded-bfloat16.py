import torch


def rope(x, positions, base):
    D = x.shape[-1]
    freq = 1.0 / base ** (torch.arange(0, D, 2, device=x.device).double() / D)
    ang = (positions.double().unsqueeze(-1) * freq).bfloat16()
    ang = torch.cat((ang, ang), dim=-1)
    x = x.double()
    x1, x2 = x[..., : D // 2], x[..., D // 2 :]
    return x * ang.double().cos() + torch.cat((-x2, x1), dim=-1) * ang.double().sin()


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, d = x.shape
    G = n_heads // n_kv_heads
    D = w_q.shape[0] // n_heads
    scale = D**-0.5

    wq = w_q.reshape(n_kv_heads, G, D, d)
    wk = w_k.reshape(n_kv_heads, D, d)
    wv = w_v.reshape(n_kv_heads, D, d)
    wo = w_o.reshape(d, n_kv_heads, G, D)
    q = torch.einsum("btm,ngem->bngte", x, wq)
    k = torch.einsum("btm,nem->bnte", x, wk)
    v = torch.einsum("btm,nem->bnte", x, wv)

    q = rope(q, positions, base)
    k = rope(k, positions, base)
    s = torch.einsum("bngte,bnse->bngts", q, k) * scale
    s = s + torch.full((T, T), float("-inf"), device=x.device, dtype=s.dtype).triu(1)
    p = torch.softmax(s, dim=-1)
    o = torch.einsum("bngts,bnse->bngte", p, v.double())
    return torch.einsum("bngte,mnge->btm", o.to(x.dtype), wo)
