from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class KVCache:
    """Rotated keys and values of one layer, (H_kv, S, D) each; None while empty."""

    keys: Tensor | None = field(default=None)
    values: Tensor | None = field(default=None)

    def __len__(self) -> int:
        return 0 if self.keys is None else self.keys.shape[1]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        self.keys = k if self.keys is None else torch.cat((self.keys, k), dim=1)
        self.values = v if self.values is None else torch.cat((self.values, v), dim=1)
        return self.keys, self.values


class Rotary(nn.Module):
    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        exponent = torch.arange(0, width, 2).to(torch.float32) / width
        self.register_buffer("freq", base**-exponent, persistent=False)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        angle = positions.to(torch.float32).unsqueeze(-1) * self.freq
        turn = torch.polar(torch.ones_like(angle), angle)  # (T, D/2)
        re, im = x.to(torch.float32).chunk(2, dim=-1)
        z = torch.complex(re, im) * turn
        return torch.cat((z.real, z.imag), dim=-1).to(x.dtype)


class Decoder(nn.Module):
    def __init__(self, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        super().__init__()
        self.embed, self.w_q, self.w_k, self.w_v, self.w_o = embed, w_q, w_k, w_v, w_o
        self.n_heads, self.n_kv = n_heads, n_kv_heads
        self.width = w_q.shape[0] // n_heads
        self.rotary = Rotary(self.width).to(embed.device)

    def attend(self, x: Tensor, cache: KVCache) -> Tensor:
        t, past = x.shape[0], len(cache)
        at = torch.arange(past, past + t, device=x.device)
        split = lambda y, n: y.view(t, n, self.width).transpose(0, 1)
        q = self.rotary(split(x @ self.w_q.T, self.n_heads), at)
        k = self.rotary(split(x @ self.w_k.T, self.n_kv), at)
        k, v = cache.append(k, split(x @ self.w_v.T, self.n_kv))
        shape = (self.n_kv, self.n_heads // self.n_kv, past + t, self.width)
        k = k.unsqueeze(1).expand(shape).flatten(0, 1)
        v = v.unsqueeze(1).expand(shape).flatten(0, 1)
        s = torch.bmm(q, k.transpose(1, 2)) / self.width**0.5
        hidden = torch.arange(past + t, device=x.device) > at.unsqueeze(1)
        s = s + torch.zeros_like(s).masked_fill(hidden, torch.finfo(s.dtype).min)
        return torch.bmm(s.softmax(-1), v).transpose(0, 1).flatten(1) @ self.w_o.T

    def forward(self, tokens: Tensor, cache: KVCache) -> Tensor:
        x = nn.functional.embedding(tokens, self.embed)
        return (x + self.attend(x, cache))[-1:] @ self.embed.T


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    model, cache = Decoder(embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads).eval(), KVCache()
    answer = torch.empty(n_new, dtype=torch.int64, device=prompt.device)
    tokens = prompt
    for i in range(n_new):
        tokens = model(tokens, cache).argmax(dim=-1)
        answer[i] = tokens
    return answer
