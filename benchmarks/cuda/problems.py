"""The problems measured: fresh inputs, the truth, and the FLOPs and bytes they take at least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.cuda.harness import Problem


@dataclass(frozen=True)
class Shape:
    """An attention problem's sizes."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    width: int
    causal: bool
    dtype: torch.dtype

    @property
    def name(self) -> str:
        kind = "causal" if self.causal else "full"
        heads = f"H={self.heads}" + (f"/{self.kv_heads}" if self.kv_heads != self.heads else "")
        return (
            f"{_short(self.dtype)} D={self.width} {kind} T={self.queries} S={self.keys} "
            f"B={self.batch} {heads}"
        )

    @property
    def flops(self) -> float:
        """Two products over what the mask leaves, a multiply-add being two."""
        pairs = self.queries * self.keys
        if self.causal:  # query i sees S - T + i + 1 keys
            pairs -= self.queries * (self.queries - 1) // 2
        return 4.0 * self.batch * self.heads * self.width * pairs

    @property
    def bytes(self) -> float:
        """q read, k and v read once a key/value head, the output written."""
        rows = 2 * self.heads * self.queries + 2 * self.kv_heads * self.keys
        return float(self.batch * rows * self.width * self.dtype.itemsize)


def _short(dtype: torch.dtype) -> str:
    names = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}
    return names.get(dtype, str(dtype))


def drawn(device: torch.device, seed: int) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


def attention_inputs(
    shape: Shape, device: torch.device, seed: int
) -> tuple[Tensor, Tensor, Tensor, bool]:
    """q, k, v, causal. Scores of standard deviation 2: a mean of the values is far off."""
    source = drawn(device, seed)
    sizes = [(shape.heads, shape.queries)] + 2 * [(shape.kv_heads, shape.keys)]
    q, k, v = (
        torch.randn(shape.batch, *size, shape.width, device=device, generator=source)
        for size in sizes
    )
    return (2 * q).to(shape.dtype), k.to(shape.dtype), v.to(shape.dtype), shape.causal


def hidden(queries: int, keys: int, device: torch.device) -> Tensor:
    """(T, S), True where a causal query may not attend: aligned at the bottom right."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).triu(keys - queries + 1)


def attention_truth(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """In float64 for float32, in float32 for half precision, a group at a time. (B, H, T, D)."""
    wide = torch.float64 if q.element_size() > 2 else torch.float32
    group = q.shape[1] // k.shape[1]
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    mask = hidden(q.shape[2], k.shape[2], q.device) if causal else None
    for b in range(q.shape[0]):
        for h in range(k.shape[1]):
            some = slice(h * group, (h + 1) * group)
            scores = q[b, some].to(wide) @ k[b, h].to(wide).T / math.sqrt(q.shape[3])  # (G, T, S)
            if mask is not None:
                scores.masked_fill_(mask, -torch.inf)
            out[b, some] = torch.softmax(scores, dim=-1) @ v[b, h].to(wide)
    return out


def attention_naive(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """The scores as one tensor, in q's dtype: what a fused kernel does without."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)  # (B, H, S, D)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if causal:
        scores = scores.masked_fill(hidden(*scores.shape[-2:], q.device), -torch.inf)
    return torch.softmax(scores, dim=-1) @ v


def attention_fused(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """torch's own. Its causal flag aligns at the top left, so it serves where T equals S."""
    queries, keys = q.shape[-2], k.shape[-2]
    mask = ~hidden(queries, keys, q.device) if causal and queries != keys else None
    return scaled_dot_product_attention(
        q, k, v, mask, is_causal=causal and mask is None, enable_gqa=q.shape[1] != k.shape[1]
    )


def attention(shape: Shape, device: torch.device) -> Problem:
    return Problem(
        f"attention {shape.name}",
        lambda seed: attention_inputs(shape, device, seed),
        attention_truth,
        shape.flops,
        shape.bytes,
    )


@dataclass(frozen=True)
class Caches:
    """A decoding problem's sizes; lengths from half the capacity to all of it."""

    batch: int
    heads: int
    kv_heads: int
    capacity: int
    width: int
    dtype: torch.dtype
    page: int = 16

    @property
    def name(self) -> str:
        return (
            f"{_short(self.dtype)} D={self.width} S<={self.capacity} B={self.batch} "
            f"H={self.heads}/{self.kv_heads}"
        )

    def lengths(self, device: torch.device) -> Tensor:
        """(B,), the same for each seed, so that the bytes are."""
        return torch.linspace(self.capacity // 2, self.capacity, self.batch).long().to(device)

    @property
    def flops(self) -> float:
        tokens = int(self.lengths(torch.device("cpu")).sum())
        return 4.0 * self.heads * self.width * tokens

    @property
    def bytes(self) -> float:
        tokens = int(self.lengths(torch.device("cpu")).sum())
        rows = 2 * self.kv_heads * tokens + 2 * self.batch * self.heads
        return float(rows * self.width * self.dtype.itemsize)


def decode_inputs(sizes: Caches, device: torch.device, seed: int) -> tuple[Tensor, ...]:
    """q, k_cache, v_cache, lengths."""
    source = drawn(device, seed)
    q = torch.randn(sizes.batch, sizes.heads, 1, sizes.width, device=device, generator=source)
    k, v = (
        torch.randn(
            sizes.batch, sizes.kv_heads, sizes.capacity, sizes.width,
            device=device, generator=source, dtype=torch.float32,
        ).to(sizes.dtype)
        for _ in "kv"
    )  # fmt: skip
    return (2 * q).to(sizes.dtype), k, v, sizes.lengths(device)


def decode_truth(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Each sequence by itself, its own keys only."""
    parts = [
        attention_truth(q[b : b + 1], k[b : b + 1, :, :n], v[b : b + 1, :, :n], False)
        for b, n in enumerate(lengths.tolist())
    ]
    return torch.cat(parts)


def _used(k: Tensor, lengths: Tensor) -> Tensor:
    """(B, 1, 1, S), True where a slot holds a token."""
    return (torch.arange(k.shape[2], device=k.device) < lengths[:, None])[:, None, None, :]


def decode_naive(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)  # (B, H, S, D)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, 1, S)
    return torch.softmax(scores.masked_fill(~_used(k, lengths), -torch.inf), dim=-1) @ v


def decode_fused(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    return scaled_dot_product_attention(
        q, k, v, _used(k, lengths), enable_gqa=q.shape[1] != k.shape[1]
    )


def decode(sizes: Caches, device: torch.device) -> Problem:
    return Problem(
        f"decode {sizes.name}",
        lambda seed: decode_inputs(sizes, device, seed),
        decode_truth,
        sizes.flops,
        sizes.bytes,
    )


def paged_inputs(sizes: Caches, device: torch.device, seed: int) -> tuple[Any, ...]:
    """q, block_table, lengths, k_pages, v_pages: the pages of each sequence lie scattered."""
    q, k, v, lengths = decode_inputs(sizes, device, seed)
    each = sizes.capacity // sizes.page
    order = torch.randperm(sizes.batch * each, device=device, generator=drawn(device, seed))
    pages = []
    for cache in (k, v):
        flat = cache.transpose(1, 2).reshape(-1, sizes.page, sizes.kv_heads, sizes.width)
        scattered = torch.empty_like(flat)  # (P, page, H_kv, D)
        scattered[order] = flat
        pages.append(scattered)
    return q, *pages, order.view(sizes.batch, each), lengths


def gathered(pages: Tensor, table: Tensor) -> Tensor:
    return pages[table].flatten(1, 2).transpose(1, 2)  # (B, H_kv, S, D)


def paged(sizes: Caches, device: torch.device) -> Problem:
    return Problem(
        f"paged {sizes.name} page={sizes.page}",
        lambda seed: paged_inputs(sizes, device, seed),
        lambda q, k, v, table, n: decode_truth(q, gathered(k, table), gathered(v, table), n),
        sizes.flops,
        sizes.bytes,
    )


def paged_fused(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """torch has no paged attention: gathered first."""
    return decode_fused(q, gathered(k, table), gathered(v, table), lengths)


def softmax(rows: int, cols: int, dtype: torch.dtype, device: torch.device) -> Problem:
    def make(seed: int) -> tuple[Tensor]:
        x = torch.randn(rows, cols, device=device, generator=drawn(device, seed))
        return ((3 * x).to(dtype),)

    return Problem(
        f"softmax {_short(dtype)} {rows} x {cols}",
        make,
        lambda x: torch.softmax(x.double() if x.element_size() > 2 else x.float(), dim=-1),
        5.0 * rows * cols,
        2.0 * rows * cols * dtype.itemsize,
    )


def softmax_naive(x: Tensor) -> Tensor:
    shifted = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return shifted / shifted.sum(dim=-1, keepdim=True)


def softmax_fused(x: Tensor) -> Tensor:
    return torch.softmax(x, dim=-1)
