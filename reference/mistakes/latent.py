"""The families of `mla` and `mla-decode`."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core
from reference.mistakes.projected import causal_mask, merge_heads, split_heads


def _normed(latent: Tensor) -> Tensor:
    return latent * torch.rsqrt(latent.square().mean(dim=-1, keepdim=True) + 1e-6)


def rows_of_heads(w: Tensor, n_heads: int, how: str) -> Tensor:
    """An up-projection (H*N, R) as (H, N, R): each head's rows.

    blocks       the rows h*N to (h+1)*N - 1
    interleaved  the rows h, h + H, h + 2H, ...
    first        those of head 0 for every head
    reshaped     the memory read as (H, R, N)
    in-out       the memory read as (R, H, N), that is, stored (in, out)
    sliced       the blocks, in which head h keeps its own R/H columns alone
    """
    width, blocks = w.shape[-1], w.view(n_heads, -1, w.shape[-1])  # (H, N, R)
    if how == "sliced":
        if width % n_heads:
            raise ValueError("the heads do not divide the latent")
        owner = torch.arange(width, device=w.device) // (width // n_heads)  # (R,)
        head = torch.arange(n_heads, device=w.device)[:, None, None]  # (H, 1, 1)
        return blocks * (owner == head)
    return {
        "blocks": lambda: blocks,
        "interleaved": lambda: w.view(-1, n_heads, width).transpose(0, 1),
        "first": lambda: blocks[:1].expand_as(blocks),
        "reshaped": lambda: w.view(n_heads, width, -1).mT,
        "in-out": lambda: w.view(width, n_heads, -1).permute(1, 2, 0),
    }[how]()


def ups(w_uk: Tensor, w_uv: Tensor, roles: str) -> tuple[Tensor, Tensor]:
    """What makes the keys and what makes the values: right, swapped, or keys-as-values."""
    return {
        "right": (w_uk, w_uv),
        "swapped": (w_uv, w_uk),
        "keys-as-values": (w_uk, w_uk),
    }[roles]


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allow: Tensor | None,
    latent_width: int,
    model_width: int | None,
    switches: dict[str, Any],
) -> Tensor:
    """`core.attend`, with one scale more: latent-width, 1/sqrt(R)."""
    if switches.get("scale") == "latent-width":
        switches, model_width = {**switches, "scale": "model-width"}, latent_width
    return core.attend(q, k, v, allow, model_width=model_width, **switches)


def latent_attention(
    x: Tensor,
    w_q: Tensor,
    w_dkv: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    w_o: Tensor,
    n_heads: int,
    *,
    latent_is: str = "projected",
    roles: str = "right",
    rows: str = "blocks",
    split: str = "right",
    kv_split: str | None = None,
    merge: str = "right",
    causal: str = "right",
    returned: str = "latent",
    **switches: Any,
) -> tuple[Tensor, Tensor]:
    """Multi-head latent attention; as the reference.

    latent_is  projected, or normed: divided by its root mean square
    roles      of w_uk and w_uv: `ups`; rows: `rows_of_heads`, of both
    split      `projected.split_heads`, kv_split for k and v alone; merge: `merge_heads`
    causal     `projected.causal_mask`
    returned   latent, keys, or values: the expanded ones, (B, T, H*D) or (B, T, H*D_v)
    The rest are switches of `_attend`.
    """
    latent = x @ w_dkv.T  # (B, T, R)
    if latent_is == "normed":
        latent = _normed(latent)
    keys, values = (
        latent @ rows_of_heads(w, n_heads, rows).flatten(0, 1).T for w in ups(w_uk, w_uv, roles)
    )  # (B, T, H*D), (B, T, H*D_v)
    q = split_heads(x @ w_q.T, n_heads, split)  # (B, H, T, D)
    k = split_heads(keys, n_heads, kv_split or split)  # (B, H, T, D)
    v = split_heads(values, n_heads, kv_split or split)  # (B, H, T, D_v)
    allow = causal_mask(causal, x.shape[1], None, x.device)  # (T, T)
    mixed = _attend(q, k, v, allow, latent.shape[-1], x.shape[-1], switches)  # (B, H, T, D_v)
    cached = {"latent": latent, "keys": keys, "values": values}[returned]
    return merge_heads(mixed, merge) @ w_o.T, cached


def _factor(how: str, q: Tensor, latent: Tensor, value_width: int) -> float:
    """What the scores of an absorbed step are multiplied by."""
    n_heads, width = q.shape[1], q.shape[-1]
    return {
        "right": 1 / math.sqrt(width),
        "none": 1.0,
        "width": 1 / width,
        "multiplied": math.sqrt(width),
        "latent-width": 1 / math.sqrt(latent.shape[-1]),
        "value-width": 1 / math.sqrt(value_width),
        "model-width": 1 / math.sqrt(n_heads * width),
        "heads": 1 / math.sqrt(n_heads),
        "keys": 1 / math.sqrt(latent.shape[1]),
    }[how]


def latent_decode(
    q: Tensor,
    latent: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    *,
    latent_is: str = "projected",
    roles: str = "right",
    rows: str = "blocks",
    rows_of: str = "both",
    absorbed: str = "right",
    lifted: str = "right",
    sees: str = "all",
    scale: str = "right",
    **switches: Any,
) -> Tensor:
    """Absorbed decoding, with the switches of `core.attend` too; as the reference.

    latent_is, roles, rows  as above; rows_of: both, or w_uk or w_uv alone
    absorbed  right, or summed: the queries of all heads together
    lifted    right, or not: the mixed latents are returned, (B, H, 1, R)
    sees      all; first: position 0 alone; not-last: zeros where there is one position; or
              not-last-of-several: that one is seen
    scale     `_factor`
    """
    n_heads = q.shape[1]
    up_k, up_v = (
        rows_of_heads(w, n_heads, rows if rows_of in ("both", which) else "blocks")
        for w, which in zip(ups(w_uk, w_uv, roles), ("w_uk", "w_uv"), strict=True)
    )  # (H, D or D_v, R)
    factor = _factor(scale, q, latent, up_v.shape[1])
    if latent_is == "normed":
        latent = _normed(latent)
    low = q @ up_k * factor  # (B, H, 1, R)
    if absorbed == "summed":
        low = low.sum(dim=1, keepdim=True).expand_as(low)
    length = latent.shape[1]
    end = {
        "all": length,
        "first": 1,
        "not-last": length - 1,
        "not-last-of-several": max(length - 1, 1),
    }[sees]
    seen = latent[:, :end]  # (B, <= S, R)
    shared = seen[:, None].expand(-1, n_heads, -1, -1)  # (B, H, S, R)
    mixed = core.attend(low, shared, shared, None, scale="none", **switches)  # (B, H, 1, R)
    return mixed if lifted == "not" else mixed @ up_v.mT  # (B, H, 1, D_v)


UPS: dict[str, dict[str, object]] = {
    "latent-ups-swapped": {"roles": "swapped"},
    "latent-ups-interleaved": {"rows": "interleaved"},
    "latent-first-head-for-all": {"rows": "first"},
    "latent-split-among-heads": {"rows": "sliced"},
    "latent-normalised": {"latent_is": "normed"},
    "keys-as-values": {"roles": "keys-as-values"},
    "scale-by-latent-width": {"scale": "latent-width"},
    "scale-by-value-width": {"scale": "value-width"},
}

MISTAKES: core.Mistakes = {
    "latent_attention": {
        **UPS,
        "latent-keys-returned": {"returned": "keys"},
        "latent-values-returned": {"returned": "values"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-model-width": {"scale": "model-width"},
        "scale-by-d-over-heads": {"scale": "width-by-division"},
        "scale-by-n-heads": {"scale": "heads"},
        **core.CAUSAL,
        "mask-after-softmax": {"masking": "after"},
        "mask-fill-zero": {"masking": "zero"},
        "mask-fill-weak": {"masking": "weak"},
        "softmax-over-queries": {"softmax": "queries"},
        "heads-split-without-transpose": {"split": "reshape"},
        "heads-merged-without-transpose": {"merge": "reshape"},
        "kv-split-without-transpose": {"kv_split": "reshape"},
    },
    "latent_decode": {
        **UPS,
        "latent-key-ups-interleaved": {"rows": "interleaved", "rows_of": "w_uk"},
        "latent-value-ups-interleaved": {"rows": "interleaved", "rows_of": "w_uv"},
        "latent-keys-of-first-head": {"rows": "first", "rows_of": "w_uk"},
        "latent-values-of-first-head": {"rows": "first", "rows_of": "w_uv"},
        "latent-ups-reshaped": {"rows": "reshaped"},
        "latent-ups-in-out": {"rows": "in-out"},
        "latent-heads-summed": {"absorbed": "summed"},
        "latent-as-values": {"lifted": "not"},
        "decode-first-key-only": {"sees": "first"},
        "latent-last-position-unseen": {"sees": "not-last"},
        "latent-last-of-several-unseen": {"sees": "not-last-of-several"},
        **core.SCALE,
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-over-heads": {"softmax": "heads"},
        "softmax-over-batch": {"softmax": "batch"},
        "softmax-overflow": {"form": "naive"},
        "softmax-overflow-zero": {"form": "naive-zero"},
        "softmax-twice": {"form": "twice"},
        "weights-unnormalised": {"form": "unnormalised"},
    },
}
