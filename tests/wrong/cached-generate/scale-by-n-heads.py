from math import sqrt

import torch


class Cache:
    """Room for every position of one sequence, filled from the left."""

    def __init__(self, room, n_kv_heads, width):
        self.k = torch.zeros(n_kv_heads, room, width, dtype=torch.float64)
        self.v = torch.zeros(n_kv_heads, room, width, dtype=torch.float64)
        self.length = 0

    def add(self, k, v):
        end = self.length + k.shape[1]
        self.k[:, self.length : end] = k
        self.v[:, self.length : end] = v
        self.length = end
        return self.k[:, :end], self.v[:, :end]


def turned(x, start):
    """x (heads, T, D) as complex numbers: feature i is the real part, i + D/2 the imaginary."""
    width = x.shape[-1]
    rate = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    place = torch.arange(start, start + x.shape[1], dtype=torch.float64)
    z = torch.complex(*x.split(width // 2, dim=-1)) * torch.exp(1j * torch.outer(place, rate))
    return torch.cat([z.real, z.imag], dim=-1)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    embed, w_q, w_k, w_v, w_o = (w.double() for w in (embed, w_q, w_k, w_v, w_o))
    width = w_q.shape[0] // n_heads
    cache = Cache(len(prompt) + n_new, n_kv_heads, width)

    def forward(tokens):
        x = embed[tokens]  # (T, d)
        start = cache.length
        q, k, v = ((x @ w.T).unflatten(-1, (-1, width)).movedim(1, 0) for w in (w_q, w_k, w_v))
        k, v = cache.add(turned(k, start), v)  # (H_kv, S, D)
        q = turned(q, start).unflatten(0, (n_kv_heads, -1))  # (H_kv, G, T, D)
        scores = torch.einsum("hgtd,hsd->hgts", q, k) / sqrt(q.shape[0] * q.shape[1])
        rows = torch.arange(start, cache.length)[:, None]
        scores[..., torch.arange(cache.length) > rows] = -torch.inf
        mixed = torch.einsum("hgts,hsd->thgd", scores.softmax(dim=-1), v).flatten(1)
        return ((x + mixed @ w_o.T) @ embed.T)[-1].argmax().reshape(1)

    new = [forward(prompt)]
    while len(new) < n_new:
        new.append(forward(new[-1]))
    return torch.cat(new)
