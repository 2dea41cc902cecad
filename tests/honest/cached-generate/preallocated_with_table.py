from functools import lru_cache

import torch


@lru_cache(maxsize=32)
def rope_table(n, width, dtype, device):
    freq = torch.pow(10000.0, -torch.arange(0, width, 2, dtype=torch.float64, device=device) / width)
    angle = torch.outer(torch.arange(n, dtype=torch.float64, device=device), freq)
    angle = torch.cat((angle, angle), dim=1)  # (n, D), both halves turn by the same angle
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    dtype = torch.promote_types(embed.dtype, torch.float32)
    E, Q, K, V, O = (w.to(dtype) for w in (embed, w_q, w_k, w_v, w_o))
    D, G, T = Q.shape[0] // n_heads, n_heads // n_kv_heads, prompt.numel()
    room = T + n_new
    cos, sin = rope_table(room, D, dtype, embed.device)
    keys = torch.zeros(n_kv_heads, room, D, dtype=dtype, device=embed.device)
    values = torch.zeros_like(keys)
    seq = torch.cat([prompt, prompt.new_zeros(n_new)])
    order = torch.arange(room, device=embed.device)

    lo, hi = 0, T
    while hi < room:
        x = E[seq[lo:hi]]
        q = (x @ Q.T).view(hi - lo, n_kv_heads, G, D)
        k = (x @ K.T).view(hi - lo, n_kv_heads, D)
        q = q * cos[lo:hi, None, None] + rotate_half(q) * sin[lo:hi, None, None]
        k = k * cos[lo:hi, None] + rotate_half(k) * sin[lo:hi, None]
        keys[:, lo:hi] = k.transpose(0, 1)
        values[:, lo:hi] = (x @ V.T).view(hi - lo, n_kv_heads, D).transpose(0, 1)
        s = torch.einsum("tngd,nsd->ngts", q, keys[:, :hi]) * D**-0.5
        s = torch.where(order[:hi] <= order[lo:hi, None], s, float("-inf"))
        y = torch.einsum("ngts,nsd->tngd", s.softmax(-1), values[:, :hi]).reshape(hi - lo, -1)
        seq[hi] = torch.argmax((x[-1] + O @ y[-1]) @ E.T)
        lo, hi = hi, hi + 1
    return seq[T:]
