from dataclasses import dataclass, field

import torch
import torch.nn.functional as F


def heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def rotate(x, start):
    T, D = x.shape[-2:]
    pos = torch.arange(start, start + T, device=x.device, dtype=torch.float64)
    freq = torch.exp(torch.arange(D // 2, device=x.device) * (-2 * 9.210340371976184 / D))
    t = torch.outer(pos, freq.double())
    t = torch.cat((t, t), -1)
    x1, x2 = x.chunk(2, -1)
    return (x * t.cos() + torch.cat((-x2, x1), -1) * t.sin()).to(x.dtype)


@dataclass
class Layer:
    wq: torch.Tensor
    wk: torch.Tensor
    wv: torch.Tensor
    wo: torch.Tensor
    H: int
    G: int
    raw: list = field(default_factory=list)  # keys not rotated, and values

    def __call__(self, x, past):
        self.raw.append((heads(F.linear(x, self.wk), self.G), heads(F.linear(x, self.wv), self.G)))
        k = rotate(torch.cat([k for k, _ in self.raw], 2), 0)
        v = torch.cat([v for _, v in self.raw], 2)
        q = rotate(heads(F.linear(x, self.wq), self.H), past)
        k, v = (t.repeat_interleave(self.H // self.G, 1) for t in (k, v))
        s = q @ k.mT * q.shape[-1] ** -0.5
        future = torch.ones_like(s, dtype=torch.bool).triu(past + 1)
        p = F.softmax(s.masked_fill(future, torch.finfo(s.dtype).min), -1)
        return x + F.linear((p @ v).transpose(1, 2).flatten(2), self.wo)


def decode_in_chunks(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, prefill, chunk):
    stack = [Layer(*w, n_heads, n_kv_heads) for w in zip(w_q, w_k, w_v, w_o)]
    rest = x[:, prefill:]
    pieces = [x[:, :prefill], *(rest.split(chunk, 1) if rest.shape[1] else ())]
    past, outs = 0, []
    for h in pieces:
        new = h.shape[1]
        for layer in stack:
            h = layer(h, past)
        outs.append(h)
        past += new
    return torch.cat(outs, 1)
