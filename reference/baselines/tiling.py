"""Other ways to write `flash-attention` and `merge-attention`, in the dtype of their inputs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

EPSILON = 1e-6
"""The largest in a normaliser that is no fault."""


def _hidden(q: Tensor, k: Tensor, causal: bool) -> Tensor:
    """bool (T, S), True where the query may not attend."""
    queries, keys = q.shape[-2], k.shape[-2]
    full = torch.ones(queries, keys, dtype=torch.bool, device=q.device)  # (T, S)
    return full.triu(keys - queries + 1) if causal else ~full


def flash_attention_query_tiles(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Tiles of queries against whole rows of keys: each row's softmax at once."""
    tiles = []
    hidden = torch.split(_hidden(q, k, causal), block_size)  # each (<= block, S)
    for tile, unseen in zip(torch.split(q, block_size, dim=-2), hidden, strict=True):
        scores = torch.einsum("bhtd,bhsd->bhts", tile, k) * q.shape[-1] ** -0.5
        weights = torch.softmax(scores.masked_fill(unseen, -torch.inf), dim=-1)
        tiles.append(torch.einsum("bhts,bhsd->bhtd", weights, v))  # (B, H, <= block, D)
    return torch.cat(tiles, dim=-2)  # (B, H, T, D)


def flash_attention_backwards(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """The last block first; entry by entry within a block, and a guard while nothing is seen."""
    q = q * q.shape[-1] ** -0.5  # (B, H, T, D)
    hidden = _hidden(q, k, causal)  # (T, S)
    m = q.new_full(q.shape[:-1], -torch.inf)  # (B, H, T)
    total, out = torch.zeros_like(m), torch.zeros_like(q)  # (B, H, T), (B, H, T, D)
    for place in reversed(range(k.shape[-2])):
        score = (q * k[..., place, None, :]).sum(dim=-1)  # (B, H, T)
        score = score.masked_fill(hidden[:, place], -torch.inf)
        higher = torch.maximum(m, score)  # (B, H, T)
        level = higher.masked_fill(higher == -torch.inf, 0.0)
        factor, weight = torch.exp(m - level), torch.exp(score - level)  # (B, H, T)
        total = total * factor + weight
        out = out * factor[..., None] + weight[..., None] * v[..., place, None, :]
        m = higher
    return out * (1 / total)[..., None]


def flash_attention_two_pass(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """One pass for the maximum, a second for the sums; nothing is ever rescaled."""
    hidden = torch.split(_hidden(q, k, causal), block_size, dim=-1)  # each (T, <= block)
    scaled = k / k.shape[-1] ** 0.5
    tiles = [
        (q @ keys.mT).masked_fill(unseen, torch.finfo(q.dtype).min)  # (B, H, T, <= block)
        for keys, unseen in zip(torch.split(scaled, block_size, dim=-2), hidden, strict=True)
    ]
    m = torch.stack([tile.amax(dim=-1) for tile in tiles]).amax(dim=0)  # (B, H, T)
    total, out = torch.zeros_like(m), torch.zeros_like(q)  # (B, H, T), (B, H, T, D)
    for tile, values in zip(tiles, torch.split(v, block_size, dim=-2), strict=True):
        weights = torch.exp(tile - m[..., None])  # (B, H, T, <= block)
        total = total + weights.sum(dim=-1)
        out = out + weights @ values
    return out / total[..., None]


def flash_attention_merged(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Each block's own softmax and log-sum-exp, merged in log space."""
    hidden = torch.split(_hidden(q, k, causal), block_size, dim=-1)  # each (T, <= block)
    lse = q.new_full(q.shape[:-1], -torch.inf)  # (B, H, T)
    out = torch.zeros_like(q)  # (B, H, T, D)
    keys_by_block, values_by_block = torch.split(k, block_size, -2), torch.split(v, block_size, -2)
    blocks = zip(keys_by_block, values_by_block, hidden, strict=True)
    for keys, values, unseen in blocks:
        scores = (q @ keys.mT / q.shape[-1] ** 0.5).masked_fill(unseen, -torch.inf)
        own = scores.logsumexp(dim=-1)  # (B, H, T)
        empty = own == -torch.inf
        part = torch.softmax(scores.masked_fill(empty[..., None], 0.0), dim=-1) @ values
        out, lse = merge_attention_log_space(out, lse, part, own)
    return out


def merge_attention_log_space(
    o_a: Tensor, lse_a: Tensor, o_b: Tensor, lse_b: Tensor
) -> tuple[Tensor, Tensor]:
    """The new log-sum-exp first; each weight is relative to it."""
    lse = torch.logaddexp(lse_a, lse_b)  # (B, H, T)
    weight_a, weight_b = torch.exp(lse_a - lse)[..., None], torch.exp(lse_b - lse)[..., None]
    return o_a * weight_a + o_b * weight_b, lse


def merge_attention_sigmoid(
    o_a: Tensor, lse_a: Tensor, o_b: Tensor, lse_b: Tensor
) -> tuple[Tensor, Tensor]:
    """The share of each part is a sigmoid; the log-sum-exp a softplus above the larger."""
    share_a = torch.sigmoid(lse_a - lse_b)[..., None]  # (B, H, T, 1)
    share_b = torch.sigmoid(lse_b - lse_a)[..., None]
    lse = torch.maximum(lse_a, lse_b) + softplus(-(lse_a - lse_b).abs())  # (B, H, T)
    return share_a * o_a + share_b * o_b, lse


def merge_attention_stacked(
    o_a: Tensor, lse_a: Tensor, o_b: Tensor, lse_b: Tensor
) -> tuple[Tensor, Tensor]:
    """A softmax over an axis of two parts."""
    lse = torch.stack((lse_a, lse_b))  # (2, B, H, T)
    shares = torch.softmax(lse, dim=0)[..., None]  # (2, B, H, T, 1)
    return (shares * torch.stack((o_a, o_b))).sum(dim=0), torch.logsumexp(lse, dim=0)


def merge_attention_moved(
    o_a: Tensor, lse_a: Tensor, o_b: Tensor, lse_b: Tensor
) -> tuple[Tensor, Tensor]:
    """The first output, moved towards the second by its share; an epsilon in the normaliser, which
    is no fault, moves its logarithm by as much."""
    m = torch.maximum(lse_a, lse_b)  # (B, H, T)
    raised_a, raised_b = torch.exp(lse_a - m), torch.exp(lse_b - m)  # (B, H, T)
    total = raised_a + raised_b + EPSILON  # (B, H, T)
    return o_a + (o_b - o_a) * (raised_b / total)[..., None], m + torch.log(total)
