import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    dtype = x.dtype
    x, w_q, w_k, w_v, w_o = (a.float() for a in (x, w_q, w_k, w_v, w_o))
    n, g = n_kv_heads, n_heads // n_kv_heads
    D = w_q.shape[0] // n_heads
    T = x.shape[1]

    q = torch.einsum("btc,ngdc->btngd", x, w_q.view(n, g, D, -1))
    k = torch.einsum("btc,ndc->btnd", x, w_k.view(n, D, -1))
    v = torch.einsum("btc,ndc->btnd", x, w_v.view(n, D, -1))

    theta = base ** (-torch.arange(0, D, 2, dtype=torch.float32) / D)
    phase = positions.float()[:, None] * theta
    # a (T, 2, 2, D/2) rotation over the two halves: out half e from in half f
    c, s = phase.cos(), phase.sin()
    turn = torch.stack([torch.stack([c, -s], 1), torch.stack([s, c], 1)], 1)
    q = torch.einsum("tefi,btngfi->btngei", turn, q.unflatten(-1, (2, -1))).flatten(-2)
    k = torch.einsum("tefi,btnfi->btnei", turn, k.unflatten(-1, (2, -1))).flatten(-2)

    scores = torch.einsum("btngd,bsnd->bngts", q, k) / D**0.5
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    p = torch.where(seen, scores, -torch.inf).softmax(-1)
    mix = torch.einsum("bngts,bsnd->btngd", p, v)
    return torch.einsum("btngd,cngd->btc", mix, w_o.view(-1, n, g, D)).to(dtype)
