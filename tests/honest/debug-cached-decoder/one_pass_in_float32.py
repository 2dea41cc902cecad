"""The same function without a cache: each layer over all tokens."""
import torch


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    B, T, _ = x.shape
    D = w_q.shape[1] // n_heads
    i = torch.arange(D // 2, device=x.device)
    ang = torch.arange(T, device=x.device)[:, None] * 10000.0 ** (-2 * i / D)
    spin = torch.polar(torch.ones_like(ang), ang)

    def split(y, n, turn):
        y = y.view(B, T, n, D).transpose(1, 2)
        if not turn:
            return y
        z = torch.complex(y[..., : D // 2].contiguous(), y[..., D // 2 :].contiguous()) * spin
        return torch.cat((z.real, z.imag), -1)

    h = x.float()
    see = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
    kv_of = torch.arange(n_heads, device=x.device) // (n_heads // n_kv_heads)
    for wq, wk, wv, wo in zip(w_q.float(), w_k.float(), w_v.float(), w_o.float()):
        q = split(h @ wq.T, n_heads, True)
        k = split(h @ wk.T, n_kv_heads, True)[:, kv_of]
        v = split(h @ wv.T, n_kv_heads, False)[:, kv_of]
        s = torch.where(see, q @ k.mT / D**0.5, -torch.inf)
        h = h + (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ wo.T
    return h.to(x.dtype)
