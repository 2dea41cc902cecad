import torch
from torch.nn.functional import linear

BASE = 10000.0


class Layer:
    """One attention layer that remembers the keys and values it has seen."""

    def __init__(self, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        self.w_q, self.w_k, self.w_v, self.w_o = w_q, w_k, w_v, w_o
        self.H, self.N = n_heads, n_kv_heads
        self.D = w_q.shape[0] // n_heads
        self.scale = self.D**-0.5
        self.keys = None
        self.values = None

    def rope(self, x, start):
        D, n = self.D, x.shape[2]
        freq = BASE ** (-torch.arange(0, D, 2, dtype=torch.float64, device=x.device) / D)
        pos = torch.arange(start, start + n, dtype=torch.float64, device=x.device)
        angle = torch.outer(pos, freq)
        z = torch.complex(x[..., : D // 2].double(), x[..., D // 2 :].double())
        z = z * torch.polar(torch.ones_like(angle), angle)
        return torch.cat((z.real, z.imag), -1).to(x.dtype)

    def remember(self, k, v):
        if self.keys is not None:
            k = torch.cat((self.keys, k), dim=2)
            v = torch.cat((self.values, v), dim=2)
        self.keys, self.values = k, v
        return k, v

    def __call__(self, x):
        B, n, _ = x.shape
        past = 0 if self.keys is None else self.keys.shape[2]
        q = linear(x, self.w_q).view(B, n, self.H, self.D).transpose(1, 2)
        k = linear(x, self.w_k).view(B, n, self.N, self.D).transpose(1, 2)
        v = linear(x, self.w_v).view(B, n, self.N, self.D).transpose(1, 2)
        q = self.rope(q, past)
        k = self.rope(k, past)
        k, v = self.remember(k, v)

        S = k.shape[2]
        q = q.reshape(B, self.N, self.H // self.N, n, self.D)
        s = torch.einsum("bgind,bgsd->bgins", q, k) * self.scale
        row = torch.arange(S - n, S, device=x.device)[:, None]
        col = torch.arange(S, device=x.device)[None, :]
        if past == 0:
            s = s.masked_fill(col > row, float("-inf"))
        o = torch.einsum("bgins,bgsd->bgind", s.softmax(-1), v)
        o = o.reshape(B, self.H, n, self.D).transpose(1, 2).reshape(B, n, -1)
        return x + linear(o, self.w_o)


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    layers = [
        Layer(w_q[i], w_k[i], w_v[i], w_o[i], n_heads, n_kv_heads) for i in range(len(w_q))
    ]
    rest = x.shape[1] - prefill
    sizes = [prefill] + [chunk] * (rest // chunk) + ([rest % chunk] if rest % chunk else [])
    result = []
    for part in x.split(sizes, dim=1):
        for layer in layers:
            part = layer(part)
        result.append(part)
    return torch.cat(result, dim=1)
