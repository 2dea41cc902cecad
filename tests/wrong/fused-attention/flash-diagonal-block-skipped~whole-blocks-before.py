from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Running:
    m: Tensor
    l: Tensor
    o: Tensor

    def absorb(self, s: Tensor, values: Tensor) -> Running:
        m = torch.maximum(self.m, s.amax(-1, keepdim=True))
        fade = (self.m - m).exp()
        p = (s - m).exp()
        return Running(m, fade * self.l + p.sum(-1, keepdim=True), fade * self.o + p @ values)

    def finish(self) -> Tensor:
        return self.o / self.l


class TiledAttention(nn.Module):
    def __init__(self, query_tile: int, key_tile: int) -> None:
        super().__init__()
        self.query_tile, self.key_tile = query_tile, key_tile

    def forward(self, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        T, S = q.shape[-2], k.shape[-2]
        rows = []
        for i in range(0, T, self.query_tile):
            tile = q[..., i : i + self.query_tile, :]
            n = tile.shape[-2]
            state = Running(
                tile.new_full((*tile.shape[:-1], 1), -torch.inf),
                tile.new_zeros((*tile.shape[:-1], 1)),
                torch.zeros_like(tile),
            )
            for j in range(0, S, self.key_tile):
                if causal and j + self.key_tile > S - T + i:
                    break  # wholly in the future
                block = k[..., j : j + self.key_tile, :]
                s = tile @ block.transpose(-1, -2)
                if causal:
                    ahead = torch.ones(s.shape[-2:], device=q.device).triu(S - T + i - j + 1)
                    s = s.masked_fill(ahead.bool(), -torch.inf)
                state = state.absorb(s, v[..., j : j + self.key_tile, :])
            rows.append(state.finish())
        return torch.cat(rows, -2)


_attention = TiledAttention(query_tile=64, key_tile=64)


def fused_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    B, H, T, D = q.shape
    wide = q.dtype if q.dtype.itemsize >= 4 else torch.float32
    scaled = q.to(wide).unflatten(1, (k.shape[1], -1)) * (1.0 / D**0.5)
    out = _attention(scaled, k.to(wide).unsqueeze(2), v.to(wide).unsqueeze(2), causal)
    return out.flatten(1, 2).to(q.dtype)
