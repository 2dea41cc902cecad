"""Other ways to write the kernel drills. Sums and weights are float32 at least, whatever the dtype
of the inputs, as in a kernel: half precision there is what the drills are to find."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

from reference.baselines import core, generation, tiling

LOG2_E = 1 / math.log(2)
"""2 ** (x * LOG2_E) is exp(x)."""


def in_float32(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function in float32 at least, its result in the dtype of the first argument."""

    @wraps(function)
    def wide(first: Tensor, *rest: Tensor | bool) -> Tensor:
        return function(_wide(first), *map(_wide, rest)).to(first.dtype)

    return wide


def _wide(value: Tensor | bool) -> Tensor | bool:
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.to(torch.promote_types(value.dtype, torch.float32))
    return value


def _owned(kv: Tensor, n_heads: int) -> Tensor:
    """(B, H_kv, S, D) to (B, H, S, D)."""
    return kv[:, [h * kv.shape[1] // n_heads for h in range(n_heads)]]


@in_float32
def fused_softmax_base_two(x: Tensor) -> Tensor:
    """exp2, and a product with the reciprocal of the sum."""
    raised = torch.exp2((x - x.amax(dim=1, keepdim=True)) * LOG2_E)  # (rows, cols)
    return raised * (1 / raised.sum(dim=1, keepdim=True))


@in_float32
def fused_softmax_columns(x: Tensor) -> Tensor:
    """Maximum and sum in one pass over 64 columns at a time."""
    m = x.new_full((len(x), 1), -torch.inf)  # (rows, 1)
    total = torch.zeros_like(m)  # (rows, 1)
    for block in torch.split(x, 64, dim=1):  # (rows, <= 64)
        higher = torch.maximum(m, block.amax(dim=1, keepdim=True))
        total = total * torch.exp(m - higher) + torch.exp(block - higher).sum(dim=1, keepdim=True)
        m = higher
    return torch.exp(x - m) / total


@in_float32
def fused_softmax_rows(x: Tensor) -> Tensor:
    """A row at a time, in log space."""
    return torch.stack([torch.exp(row - torch.logsumexp(row, dim=0)) for row in x])


@in_float32
def fused_attention_dense(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """All scores at once, the least finite number where hidden."""
    t, s = q.shape[2], k.shape[2]
    mask = torch.ones(t, s, dtype=torch.bool, device=q.device).tril(s - t) if causal else None
    return core.finite_fill(q, _owned(k, q.shape[1]), _owned(v, q.shape[1]), mask)


@in_float32
def fused_attention_by_lse(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Weights as exp(score - log-sum-exp), which loses the digits that large scores take."""
    t, s = q.shape[2], k.shape[2]
    scores = q @ _owned(k, q.shape[1]).mT / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if causal:
        ahead = torch.ones(t, s, dtype=torch.bool, device=q.device).triu(s - t + 1)
        scores = scores.masked_fill(ahead, -torch.inf)
    return torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True)) @ _owned(v, q.shape[1])


@in_float32
def fused_attention_merged(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Blocks of 32 keys, each with its own softmax, merged in log space."""
    return tiling.flash_attention_merged(
        q, _owned(k, q.shape[1]), _owned(v, q.shape[1]), 32, causal
    )


@in_float32
def fused_attention_two_pass(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """The maximum first, then sums over blocks of 16 keys; nothing is rescaled."""
    k, v = _owned(k, q.shape[1]), _owned(v, q.shape[1])  # (B, H, S, D)
    return tiling.flash_attention_two_pass(q, k, v, 16, causal)


def fused_attention_base_two(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """As on tensor cores: the scaled queries and the weights rounded to the dtype, scores in base
    two and sums in float32 at least."""
    t, s, wide = q.shape[2], k.shape[2], torch.promote_types(q.dtype, torch.float32)
    rows = q.reshape(len(q), k.shape[1], -1, t, q.shape[-1]).to(wide)  # (B, H_kv, G, T, D)
    rows = (rows * (q.shape[-1] ** -0.5 * LOG2_E)).to(q.dtype).to(wide)
    place = torch.arange(s - t, s, device=q.device)[:, None]  # (T, 1)
    m = torch.full_like(rows[..., :1], -torch.inf)  # (B, H_kv, G, T, 1)
    total, out = torch.zeros_like(m), torch.zeros_like(rows)
    for start in range(0, s, 64):
        keys, values = (x[:, :, None, start : start + 64] for x in (k, v))  # (B, H_kv, 1, <= 64, D)
        scores = rows @ keys.to(wide).mT  # (B, H_kv, G, T, <= 64)
        if causal:
            ahead = torch.arange(start, start + keys.shape[3], device=q.device) > place
            scores = scores.masked_fill(ahead, -torch.inf)
        higher = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        factor, raised = torch.exp2(m - higher), torch.exp2(scores - higher)
        total = total * factor + raised.sum(dim=-1, keepdim=True)
        out = out * factor + raised.to(v.dtype).to(wide) @ values.to(wide)
        m = higher
    return (out / total).to(q.dtype).flatten(1, 2)  # (B, H, T, D)


@in_float32
def fused_decode_dense(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """Caches expanded to all heads, and the least finite number where no token is."""
    slot = torch.arange(k_cache.shape[2], device=q.device)  # (S,)
    used = (slot < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)
    return core.finite_fill(q, _owned(k_cache, q.shape[1]), _owned(v_cache, q.shape[1]), used)


@in_float32
def fused_decode_by_lse(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """Weights as exp(score - log-sum-exp), which loses the digits that large scores take."""
    rows = q.reshape(len(q), k_cache.shape[1], -1, q.shape[-1])  # (B, H_kv, G, D)
    slot = torch.arange(k_cache.shape[2], device=q.device)  # (S,)
    scores = rows @ k_cache.mT / math.sqrt(q.shape[-1])  # (B, H_kv, G, S)
    scores = scores.masked_fill((slot >= lengths[:, None])[:, None, None], -torch.inf)
    return (torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True)) @ v_cache).reshape(q.shape)


@in_float32
def fused_decode_per_sequence(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor
) -> Tensor:
    """A sequence at a time, its cache cut: no mask."""
    outs = []
    for b, length in enumerate(lengths.tolist()):
        rows = q[b, :, 0].reshape(k_cache.shape[1], -1, q.shape[-1])  # (H_kv, G, D)
        scores = torch.einsum("kgd,ksd->kgs", rows, k_cache[b, :, :length]) * q.shape[-1] ** -0.5
        weights = torch.softmax(scores, dim=-1)  # (H_kv, G, length)
        outs.append(torch.einsum("kgs,ksd->kgd", weights, v_cache[b, :, :length]).flatten(0, 1))
    return torch.stack(outs)[:, :, None]  # (B, H, 1, D)


def fused_decode_backwards(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """As on tensor cores, 16 slots at a time and from the end: the scaled queries and the weights
    rounded to the dtype, scores in base two and sums in float32 at least."""
    wide = torch.promote_types(q.dtype, torch.float32)
    rows = q.reshape(len(q), k_cache.shape[1], -1, q.shape[-1]).to(wide)  # (B, H_kv, G, D)
    rows = (rows * (q.shape[-1] ** -0.5 * LOG2_E)).to(q.dtype).to(wide)
    m = torch.full_like(rows[..., :1], -torch.inf)  # (B, H_kv, G, 1)
    total, out = torch.zeros_like(m), torch.zeros_like(rows)
    for start in reversed(range(0, k_cache.shape[2], 16)):
        keys, values = k_cache[:, :, start : start + 16], v_cache[:, :, start : start + 16]
        slot = torch.arange(start, start + keys.shape[2], device=q.device)  # (<= 16,)
        unused = (slot >= lengths[:, None])[:, None, None, :]  # (B, 1, 1, <= 16)
        scores = (rows @ keys.to(wide).mT).masked_fill(unused, -torch.inf)
        higher = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        level = higher.masked_fill(higher == -torch.inf, 0.0)
        factor, raised = torch.exp2(m - level), torch.exp2(scores - level)
        total = total * factor + raised.sum(dim=-1, keepdim=True)
        out = out * factor + raised.to(q.dtype).to(wide) @ values.to(wide)
        m = higher
    return (out / total).to(q.dtype).reshape(q.shape)  # (B, H, 1, D)


@in_float32
def fused_decode_splits(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """Splits of 24 slots, each with its own softmax; the shares of the splits are a softmax too."""
    rows = q.reshape(len(q), k_cache.shape[1], -1, q.shape[-1]) / q.shape[-1] ** 0.5
    slot = torch.arange(k_cache.shape[2], device=q.device)  # (S,)
    scores = torch.einsum("bkgd,bksd->bkgs", rows, k_cache)  # (B, H_kv, G, S)
    scores = scores.masked_fill((slot >= lengths[:, None])[:, None, None], -torch.inf)
    parts = list(zip(torch.split(scores, 24, dim=-1), torch.split(v_cache, 24, dim=2), strict=True))
    lse = torch.stack([part.logsumexp(dim=-1) for part, _ in parts])  # (splits, B, H_kv, G)
    outs = torch.stack([part.softmax(dim=-1).nan_to_num() @ values for part, values in parts])
    return (torch.softmax(lse, dim=0)[..., None] * outs).sum(dim=0).reshape(q.shape)


paged_decode_flat_slots = in_float32(generation.paged_decode_flat_slots)
paged_decode_online = in_float32(generation.paged_decode_online)
paged_decode_per_sequence = in_float32(generation.paged_decode_per_sequence)
paged_decode_whole_pool = in_float32(generation.paged_decode_whole_pool)


def paged_decode_backwards(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """`fused_decode_backwards` on the gathered pages."""
    return fused_decode_backwards(q, *_gathered(k_pages, v_pages, block_table), lengths)


def paged_decode_by_lse(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """`fused_decode_by_lse` on the gathered pages."""
    return fused_decode_by_lse(q, *_gathered(k_pages, v_pages, block_table), lengths)


def _gathered(k_pages: Tensor, v_pages: Tensor, block_table: Tensor) -> tuple[Tensor, Tensor]:
    """(P, page, H_kv, D) to (B, H_kv, S, D): the pages of each sequence, in order."""
    pages = block_table.clamp(min=0)  # (B, max_pages)
    return (
        k_pages[pages].flatten(1, 2).transpose(1, 2),
        v_pages[pages].flatten(1, 2).transpose(1, 2),
    )
