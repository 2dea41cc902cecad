import functools

import torch
import torch.nn.functional as F


@functools.lru_cache(maxsize=None)
def rope_rows(first, count, width, base):
    pos = torch.arange(first, first + count, dtype=torch.float64)
    freq = base ** (torch.arange(width // 2, dtype=torch.float64) * (-2 / width))
    return torch.exp(1j * pos[:, None] * freq)  # (count, width / 2)


def rope(x, first, base):
    rows = rope_rows(first, x.shape[-2], x.shape[-1], float(base))
    z = torch.view_as_complex(x.unflatten(-1, (2, -1)).mT.contiguous())
    return torch.view_as_real(z * rows).mT.flatten(-2)


def part(q, k, v, bias):
    """Result and log-sum-exp over these keys. No key: zeros and -inf."""
    if k.shape[2] == 0:
        return torch.zeros_like(q), torch.full_like(q[..., :1], -torch.inf)
    s = q @ k.mT + bias
    lse = s.logsumexp(-1, keepdim=True)
    return (s - lse).exp() @ v, lse


@torch.no_grad()
def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    S, D = k_cache.shape[2:]
    T = x.shape[1]
    X, Kc, Vc = x.double(), k_cache.double(), v_cache.double()

    def heads(w):
        return F.linear(X, w.double()).unflatten(-1, (-1, D)).transpose(1, 2)

    q = rope(heads(w_q), S, base) * D**-0.5
    k, v = rope(heads(w_k), S, base), heads(w_v)
    which = [h * n_kv_heads // n_heads for h in range(n_heads)]
    square = torch.zeros(T, T, dtype=torch.float64).masked_fill(
        torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf
    )
    o1, l1 = part(q, Kc[:, which], Vc[:, which], 0.0)
    o2, l2 = part(q, k[:, which], v[:, which], square)
    o = torch.sigmoid(l1 - l2) * o1 + torch.sigmoid(l2 - l1) * o2
    out = F.linear(o.transpose(1, 2).flatten(2), w_o.double())
    K, V = torch.cat([Kc, k], 2), torch.cat([Vc, v], 2)
    return out.to(x.dtype), K.to(x.dtype), V.to(x.dtype)
