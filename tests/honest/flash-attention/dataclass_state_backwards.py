from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class Rows:
    """What is known of a block of query rows so far."""

    q: Tensor  # (B, H, n, D), scaled
    at: Tensor | None  # (n, 1) absolute positions, None when not causal
    m: Tensor = field(init=False)
    l: Tensor = field(init=False)
    o: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.m = torch.full_like(self.q[..., 0], -torch.inf)
        self.l = torch.zeros_like(self.m)
        self.o = torch.zeros_like(self.q)

    def see(self, k: Tensor, v: Tensor, start: int) -> None:
        s = torch.einsum("bhnd,bhcd->bhnc", self.q, k)
        if self.at is not None:
            s = s.masked_fill(torch.arange(start, start + k.shape[2]) > self.at, -torch.inf)
        m = torch.maximum(self.m, s.amax(-1))
        # read from the last tile down, a row may have seen nothing yet: subtract 0 there
        base = m.masked_fill(m == -torch.inf, 0.0)
        p = torch.exp(s - base[..., None])
        fade = torch.exp(self.m - base)
        self.l = self.l * fade + p.sum(-1)
        self.o = self.o * fade[..., None] + torch.einsum("bhnc,bhcd->bhnd", p, v)
        self.m = m

    def result(self) -> Tensor:
        return self.o / self.l[..., None]


def starts(length: int, block: int) -> Iterator[int]:
    yield from reversed(range(0, length, block))


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    done: list[Tensor] = []
    for i in starts(T, block_size):
        block = q[:, :, i : i + block_size].to(torch.float32) * D**-0.5
        at = torch.arange(i, i + block.shape[2]).unsqueeze(1) + S - T if causal else None
        rows = Rows(block, at)
        for j in starts(S, block_size):
            tile = slice(j, j + block_size)
            rows.see(k[:, :, tile].to(torch.float32), v[:, :, tile].to(torch.float32), j)
        done.insert(0, rows.result())
    return torch.cat(done, dim=2).to(q.dtype)
