from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_TABLES: dict[tuple, tuple[Tensor, Tensor]] = {}


@dataclass(frozen=True)
class Config:
    n_heads: int
    n_kv_heads: int
    head_dim: int
    base: float

    @property
    def group(self) -> int:
        return self.n_heads // self.n_kv_heads


def tables(config: Config, length: int) -> tuple[Tensor, Tensor]:
    """cos and sin (length, D/2) in double; grown when a later position turns up."""
    key = (config.head_dim, config.base)
    if key not in _TABLES or _TABLES[key][0].shape[0] < length:
        pair = torch.arange(config.head_dim // 2, dtype=torch.float64)
        freq = config.base ** (-2 * pair / config.head_dim)
        angle = torch.outer(torch.arange(length, dtype=torch.float64), freq)
        _TABLES[key] = angle.cos(), angle.sin()
    return _TABLES[key]


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    out = torch.empty_like(x)
    out[..., :half] = x[..., :half] * cos - x[..., half:] * sin
    out[..., half:] = x[..., half:] * cos + x[..., :half] * sin
    return out


def attention_block(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    positions: Tensor,
    base: float = 10000.0,
) -> Tensor:
    config = Config(n_heads, n_kv_heads, w_q.shape[0] // n_heads, float(base))
    cos, sin = tables(config, int(positions.max()) + 1)
    cos, sin = cos[positions].to(x.dtype), sin[positions].to(x.dtype)
    B, T, _ = x.shape

    def split(w: Tensor, heads: int) -> Tensor:
        return (x @ w.mT).view(B, T, heads, config.head_dim).movedim(2, 1)

    q = rope(split(w_q, n_heads), cos, sin)
    k = rope(split(w_k, n_kv_heads), cos, sin)
    v = split(w_v, n_kv_heads)
    k = k[:, :, None].expand(-1, -1, config.group, -1, -1).flatten(1, 2)
    v = v[:, :, None].expand(-1, -1, config.group, -1, -1).flatten(1, 2)

    rows = []
    for t in range(T):  # row t meets keys 0 .. t and needs no mask
        s = torch.einsum("bhd,bhsd->bhs", q[:, :, t], k[:, :, : t + 1]) / config.head_dim**0.5
        rows.append(torch.einsum("bhs,bhsd->bhd", s.softmax(-1), v[:, :, : t + 1]))
    return torch.stack(rows, 1).reshape(B, T, -1) @ w_o.mT
