import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, _ = x.shape
    D = w_k.shape[0] // n_kv_heads
    G = n_heads // n_kv_heads
    work = x.double()
    turn = torch.polar(
        torch.ones(T, D // 2, dtype=torch.float64),
        positions.double()[:, None] / base ** (torch.arange(0, D, 2).double() / D),
    )

    def turned(y):
        z = torch.complex(y[..., : D // 2], y[..., D // 2 :]) * turn[None, :, None]
        return torch.cat([z.real, z.imag], -1)

    q = turned((work @ w_q.double().T).reshape(B, T, n_heads, D)).reshape(B, T, n_kv_heads, G, D)
    k = turned((work @ w_k.double().T).reshape(B, T, n_kv_heads, D))
    v = (work @ w_v.double().T).reshape(B, T, n_kv_heads, D)
    s = torch.einsum("btngd,bsnd->bngts", q, k) * D**-0.5
    s = s.masked_fill(torch.arange(T)[:, None] < torch.arange(T)[None], -torch.inf)
    o = torch.einsum("bngts,bsnd->btngd", torch.softmax(s, -1), v).reshape(B, T, -1)
    return (o @ w_o.double().T).to(x.dtype)
