"""Other ways to write the attention drills: `attention`, `causal-mha`, `padding-mask`, `gqa`,
`kv-cache-decode` and the block, each with the signature of its reference."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from reference.baselines import core
from reference.baselines.rope import Rotate, rope_complex, rope_matrix, rope_rotate_half


def attention_einsum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Scaled query, einsum, division after the mixing."""
    return core.einsum(q, k, v, mask)


def attention_per_head(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """A head at a time, sums by broadcasting."""
    return core.per_head(q, k, v, mask)


def attention_tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Key blocks with an online softmax."""
    return core.tiled(q, k, v, mask)


def attention_finite_fill(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The least finite number where hidden."""
    return core.finite_fill(q, k, v, mask)


def _causal(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)


def _mha(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    attend: core.Attend,
) -> Tensor:
    """Projections by einsum; the output projection is a sum over heads."""
    batch, length, width = x.shape
    q, k, v = (
        torch.einsum("btd,hed->bhte", x, w.view(n_heads, -1, width))  # (B, H, T, D)
        for w in (w_q, w_k, w_v)
    )
    mixed = attend(q, k, v, _causal(length, x.device))  # (B, H, T, D)
    out = x.new_zeros(batch, length, w_o.shape[0])  # (B, T, d)
    for h, w in enumerate(w_o.chunk(n_heads, dim=1)):  # (d, D)
        out = out + mixed[:, h] @ w.T
    return out


def causal_mha_einsum(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int
) -> Tensor:
    """Einsum throughout."""
    return _mha(x, w_q, w_k, w_v, w_o, n_heads, core.einsum)


def causal_mha_per_head(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int
) -> Tensor:
    """A head at a time."""
    return _mha(x, w_q, w_k, w_v, w_o, n_heads, core.per_head)


def causal_mha_tiled(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int
) -> Tensor:
    """Key blocks with an online softmax."""
    return _mha(x, w_q, w_k, w_v, w_o, n_heads, core.tiled)


def causal_mha_finite_fill(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int
) -> Tensor:
    """The weights fused into one projection, and the least finite number where hidden."""
    batch, length, width = x.shape
    qkv = torch.nn.functional.linear(x, torch.cat([w_q, w_k, w_v]))  # (B, T, 3d)
    q, k, v = qkv.view(batch, length, 3, n_heads, -1).permute(2, 0, 3, 1, 4)  # (B, H, T, D)
    mixed = core.finite_fill(q, k, v, _causal(length, x.device))  # (B, H, T, D)
    merged = mixed.permute(0, 2, 1, 3).reshape(batch, length, width)  # (B, T, d)
    return torch.nn.functional.linear(merged, w_o)


def _key_mask(lengths: Tensor, length: int) -> Tensor:
    return (torch.arange(length, device=lengths.device) < lengths[:, None])[:, None, None, :]


def padding_mask_einsum(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Scaled query, einsum, division after the mixing."""
    return core.einsum(q, k, v, _key_mask(lengths, k.shape[-2]))


def padding_mask_tiled(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """Key blocks with an online softmax."""
    return core.tiled(q, k, v, _key_mask(lengths, k.shape[-2]))


def padding_mask_finite_fill(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """The least finite number where hidden."""
    return core.finite_fill(q, k, v, _key_mask(lengths, k.shape[-2]))


def padding_mask_per_sequence(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """No mask at all: the padding of each sequence is cut off."""
    outs = []
    for b, n in enumerate(lengths.tolist()):
        scores = q[b] @ k[b, :, :n].mT / q.shape[-1] ** 0.5  # (H, T, n)
        outs.append(torch.softmax(scores, dim=-1) @ v[b, :, :n])  # (H, T, D)
    return torch.stack(outs)  # (B, H, T, D)


def _project(x: Tensor, w: Tensor, n_heads: int) -> Tensor:
    return torch.stack([x @ part.T for part in w.chunk(n_heads)], dim=1)  # (B, H, T, D)


def _gqa(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    attend: core.Attend,
) -> Tensor:
    q = _project(x, w_q, n_heads)  # (B, H, T, D)
    shared_by = n_heads // n_kv_heads
    owner = [h // shared_by for h in range(n_heads)]
    k = _project(x, w_k, n_kv_heads)[:, owner]  # (B, H, T, D)
    v = _project(x, w_v, n_kv_heads)[:, owner]  # (B, H, T, D)
    mixed = attend(q, k, v, _causal(x.shape[1], x.device))  # (B, H, T, D)
    return torch.einsum("bhte,dhe->btd", mixed, w_o.view(w_o.shape[0], n_heads, -1))  # (B, T, d)


def gqa_per_head(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int
) -> Tensor:
    """A head at a time."""
    return _gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, core.per_head)


def gqa_tiled(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int
) -> Tensor:
    """Key blocks with an online softmax."""
    return _gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, core.tiled)


def gqa_finite_fill(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int
) -> Tensor:
    """The least finite number where hidden."""
    return _gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, core.finite_fill)


def gqa_grouped(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, n_heads: int, n_kv_heads: int
) -> Tensor:
    """The query heads of a group are rows against their one key/value head: nothing is copied."""
    batch, length, _ = x.shape
    group = n_heads // n_kv_heads
    q = (x @ w_q.T).view(batch, length, n_kv_heads, group, -1)  # (B, T, H_kv, G, D)
    k = (x @ w_k.T).view(batch, length, n_kv_heads, -1)  # (B, T, H_kv, D)
    v = (x @ w_v.T).view(batch, length, n_kv_heads, -1)  # (B, T, H_kv, D)
    scores = torch.einsum("btkgd,bskd->bkgts", q, k) * q.shape[-1] ** -0.5  # (B, H_kv, G, T, T)
    scores = torch.where(_causal(length, x.device), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)  # (B, H_kv, G, T, T)
    mixed = torch.einsum("bkgts,bskd->btkgd", weights, v)  # (B, T, H_kv, G, D)
    return mixed.reshape(batch, length, -1) @ w_o.T  # (B, T, d)


def _decode(
    q: Tensor,
    k_new: Tensor,
    v_new: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    attend: core.Attend,
) -> tuple[Tensor, Tensor, Tensor]:
    k = torch.cat((k_cache, k_new), dim=-2)  # (B, H_kv, S+1, D)
    v = torch.cat((v_cache, v_new), dim=-2)  # (B, H_kv, S+1, D)
    owner = [h * k.shape[1] // q.shape[1] for h in range(q.shape[1])]
    return attend(q, k[:, owner], v[:, owner], None), k, v


def kv_cache_decode_einsum(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Scaled query, einsum, division after the mixing."""
    return _decode(q, k_new, v_new, k_cache, v_cache, core.einsum)


def kv_cache_decode_per_head(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A head at a time."""
    return _decode(q, k_new, v_new, k_cache, v_cache, core.per_head)


def kv_cache_decode_online(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Key blocks with an online softmax."""
    return _decode(q, k_new, v_new, k_cache, v_cache, core.tiled)


def kv_cache_decode_grouped(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The query heads of a group are rows against their one key/value head."""
    batch, n_kv_heads, past, width = k_cache.shape
    k, v = k_cache.new_empty((2, batch, n_kv_heads, past + 1, width))  # (B, H_kv, S+1, D)
    k[:, :, :past], k[:, :, past:] = k_cache, k_new
    v[:, :, :past], v[:, :, past:] = v_cache, v_new
    rows = q.reshape(batch, n_kv_heads, -1, width)  # (B, H_kv, G, D)
    weights = torch.softmax(rows @ k.mT / width**0.5, dim=-1)  # (B, H_kv, G, S+1)
    return (weights @ v).view(q.shape), k, v


def _block(
    rotate: Rotate,
    attend: core.Attend,
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
    owner = [h * n_kv_heads // n_heads for h in range(n_heads)]
    q = rotate(_project(x, w_q, n_heads), positions, base)  # (B, H, T, D)
    k = rotate(_project(x, w_k, n_kv_heads), positions, base)[:, owner]  # (B, H, T, D)
    v = _project(x, w_v, n_kv_heads)[:, owner]  # (B, H, T, D)
    mixed = attend(q, k, v, _causal(x.shape[1], x.device))  # (B, H, T, D)
    return torch.einsum("bhte,dhe->btd", mixed, w_o.view(w_o.shape[0], n_heads, -1))  # (B, T, d)


attention_block_einsum = partial(_block, rope_complex, core.einsum)
attention_block_per_head = partial(_block, rope_rotate_half, core.per_head)
attention_block_tiled = partial(_block, rope_matrix, core.tiled)
