"""A decoder with a KV cache."""

from __future__ import annotations

import math

import torch


class LayerCache:
    """The keys and values of one layer, in buffers with a slot for every token."""

    def __init__(self, x: torch.Tensor, n_kv_heads: int, width: int) -> None:
        self.k = x.new_zeros(x.shape[0], n_kv_heads, x.shape[1], width)  # (B, H_kv, T, D)
        self.v = torch.zeros_like(self.k)  # (B, H_kv, T, D)

    def write(self, at: int, k: torch.Tensor, v: torch.Tensor) -> None:
        """Put keys and values (B, H_kv, new, D) in the slots from `at` on."""
        self.k[:, :, at : at + k.shape[2]] = k
        self.v[:, :, at : at + v.shape[2]] = v


def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(B, T, n * D) -> (B, n, T, D)."""
    return x.view(x.shape[0], x.shape[1], n_heads, -1).transpose(1, 2)


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Half-split RoPE of x (B, n, T, D) by positions (T,)."""
    width = x.shape[-1]
    pairs = torch.arange(width // 2, device=x.device, dtype=torch.float64)  # (D/2,)
    angles = positions[:, None].double() * 10000.0 ** (-2.0 * pairs / width)  # (T, D/2)
    cos, sin = angles.cos(), angles.sin()  # (T, D/2)
    a, b = x.double().chunk(2, dim=-1)  # (B, n, T, D/2)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


def attention(
    x: torch.Tensor,
    weights: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    n_heads: int,
    n_kv_heads: int,
    cache: LayerCache,
    past: int,
    call: int,
) -> torch.Tensor:
    """Attention of x (B, new, d) over the `past` tokens in the cache, and itself.

    `call` is 0 for the first call of the layers, then 1, 2, ...
    """
    w_q, w_k, w_v, w_o = weights
    batch, new, _ = x.shape
    positions = past + torch.arange(new, device=x.device)  # (new,)
    slot = past  # of the first new token

    q = rotate(split_heads(x @ w_q.T, n_heads), positions)  # (B, H, new, D)
    k = rotate(split_heads(x @ w_k.T, n_kv_heads), positions)  # (B, H_kv, new, D)
    v = split_heads(x @ w_v.T, n_kv_heads)  # (B, H_kv, new, D)
    cache.write(slot, k, v)
    k = torch.cat((cache.k[:, :, :past], k), dim=2)  # (B, H_kv, past+new, D)
    v = torch.cat((cache.v[:, :, :past], v), dim=2)  # (B, H_kv, past+new, D)

    group = n_heads // n_kv_heads
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, new, past+new)
    future = torch.ones(new, past + new, dtype=torch.bool, device=x.device).triu(past + 1)
    scores = scores.masked_fill(future, float("-inf"))
    mixed = scores.softmax(dim=-1) @ v  # (B, H, new, D)
    return mixed.transpose(1, 2).reshape(batch, new, -1) @ w_o.T  # (B, new, d)


def decode_in_chunks(
    x: torch.Tensor,
    w_q: torch.Tensor,
    w_k: torch.Tensor,
    w_v: torch.Tensor,
    w_o: torch.Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
) -> torch.Tensor:
    """x + attention(x) layer by layer, `prefill` tokens first and then `chunk` at a time.

    x          (B, T, d)         float32, float64 or bfloat16
    w_q        (L, H * D, d)     stored (out, in): a projection is x @ w.T
    w_k, w_v   (L, H_kv * D, d)
    w_o        (L, d, H * D)
    out        (B, T, d)         in x's dtype
    """
    layers = list(zip(w_q, w_k, w_v, w_o, strict=True))
    caches = [LayerCache(x, n_kv_heads, w_q.shape[1] // n_heads) for _ in layers]
    outs: list[torch.Tensor] = []
    past = 0
    while past < x.shape[1]:
        h = x[:, past : past + (chunk if outs else prefill)]  # (B, new, d)
        for weights, cache in zip(layers, caches, strict=True):
            h = h + attention(h, weights, n_heads, n_kv_heads, cache, past, len(outs))
        outs.append(h)
        past += h.shape[1]
    return torch.cat(outs, dim=1)  # (B, T, d)
