"""The family of `cached-attention`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, rope
from reference.mistakes.projected import (
    ROPE_SWITCHES,
    attend,
    merge_heads,
    project,
    share_heads,
    split_heads,
)


def places(how: str, past: int, new: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """The positions (T,) that turn the new queries, and those that turn the new keys."""
    index = torch.arange(new, device=device)  # (T,)
    turned = {
        "right": lambda: index + past,
        "queries-restart": lambda: index + past,
        "restart": lambda: index,
        "one-late": lambda: index + past + 1,
        "after-append": lambda: index + past + new,
        "shared": lambda: 0 * index + past,
    }[how]()
    return (index if how == "queries-restart" else turned), turned


def causal_mask(how: str, new: int, total: int, device: torch.device) -> Tensor:
    """bool (T, S+T): right (bottom-right), top-left, missing, first-call (missing where S > 0),
    over-oldest (the triangle over keys 0 to T - 1, the others seen), apart (the cache and itself),
    one-ahead, hides-self, reversed (itself and later ones), inverted (later ones alone)."""
    past = total - new
    keys = torch.arange(total, device=device)  # (S+T,)
    row = torch.arange(new, device=device)[:, None]  # (T, 1)
    queries = row + past
    everything = (keys >= 0) & (row >= 0)
    return {
        "right": lambda: keys <= queries,
        "top-left": lambda: keys <= row,
        "missing": lambda: everything,
        "first-call": lambda: everything if past else keys <= queries,
        "over-oldest": lambda: (keys <= row) | (keys >= new),
        "apart": lambda: (keys < past) | (keys == queries),
        "one-ahead": lambda: keys <= queries + 1,
        "hides-self": lambda: keys < queries,
        "reversed": lambda: keys >= queries,
        "inverted": lambda: keys > queries,
    }[how]()


def _joined(cache: Tensor, new: Tensor, how: str) -> Tensor:
    """(B, H_kv, S, D) and (B, H_kv, T, D) to (B, H_kv, S+T, D)."""
    if how == "before":
        return torch.cat([new, cache], dim=2)
    joined = torch.cat([cache, new], dim=2)
    if how == "from-start":  # the new ones over the first, and the slots meant for them empty
        joined[:, :, cache.shape[2] :] = 0.0
        joined[:, :, : new.shape[2]] = new
    return joined


def cached_attention(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
    base: float = 10000.0,
    *,
    position: str = "right",
    causal: str = "right",
    sees: str = "all",
    append: str = "after",
    cached: str = "rotated",
    rotated: str = "queries-keys",
    value: str = "value",
    returned: str = "right",
    mixes: str = "values",
    roles: str = "right",
    split: str = "right",
    kv_split: str | None = None,
    merge: str = "right",
    share: str = "repeat",
    **switches: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attention of new tokens over a cache and themselves; as the reference.

    position  `places`
    causal    `causal_mask`
    sees      all; new (the new tokens alone); cache (the old ones alone)
    append    `_joined`: after the cache, before it, or from-start
    cached    keys: rotated; again (the whole cache rotated once more, and kept so); raw (new keys
              kept unrotated); at-read (kept unrotated, the whole cache rotated to attend)
    rotated   queries-keys, queries, keys, all (the values too), or none
    value     what is written to the value cache: the value, or the rotated key
    returned  right, or swapped: the value cache before the key cache
    mixes     values, or keys: what the weights multiply
    The rest are switches of `projected`, and of `apply_rope`.
    """
    turns = {name: switches.pop(name) for name in ROPE_SWITCHES & switches.keys()}
    past, new = k_cache.shape[2], x.shape[1]

    def rotate(features: Tensor, at: Tensor) -> Tensor:
        return rope.apply_rope(features, at, base, **turns)

    q, k, v = project(x, (w_q, w_k, w_v), "none", roles, "projected")
    q = split_heads(q, n_heads, split)  # (B, H, T, D)
    k = split_heads(k, n_kv_heads, kv_split or split)  # (B, H_kv, T, D)
    v = split_heads(v, n_kv_heads, kv_split or split)  # (B, H_kv, T, D)
    query_places, key_places = places(position, past, new, x.device)
    if rotated == "none":
        turned_q, turned_k = q, k
    elif query_places is key_places:  # as nearly always: both at once, which is quicker
        both = rotate(torch.cat([q, k], dim=1), key_places)  # (B, H + H_kv, T, D)
        turned_q, turned_k = both[:, :n_heads], both[:, n_heads:]
    else:
        turned_q, turned_k = rotate(q, query_places), rotate(k, key_places)
    q = q if rotated in ("keys", "none") else turned_q  # (B, H, T, D)
    turned = k if rotated in ("queries", "none") else turned_k  # (B, H_kv, T, D)
    v = rotate(v, key_places) if rotated == "all" else v
    v = turned if value == "key" else v

    whole = torch.arange(past + new, device=x.device)  # (S+T,)
    kept = _joined(k_cache, turned if cached == "rotated" else k, append)  # (B, H_kv, S+T, D)
    kept = rotate(kept, whole) if cached == "again" else kept
    read = {
        "raw": lambda: _joined(k_cache, turned, append),
        "at-read": lambda: rotate(kept, whole),
    }.get(cached, lambda: kept)()  # (B, H_kv, S+T, D)
    values = _joined(v_cache, v, append)  # (B, H_kv, S+T, D)

    allow = causal_mask(causal, new, past + new, x.device)  # (T, S+T)
    attended = values
    if sees == "new":
        read, attended = read[:, :, past:], attended[:, :, past:]
        allow = causal_mask(causal, new, new, x.device)  # (T, T)
    elif sees == "cache":
        read, attended, allow = k_cache, v_cache, allow.new_ones(new, past)
    attended = attended if mixes == "values" else read
    mixed = attend(
        q,
        share_heads(read, n_heads, share),
        share_heads(attended, n_heads, share),
        allow,
        n_kv_heads,
        model_width=x.shape[-1],
        **switches,
    )  # (B, H, T, D)
    out = merge_heads(mixed, merge) @ w_o.T  # (B, T, d)
    return (out, kept, values) if returned == "right" else (out, values, kept)


_ROTATION = (
    "rope-interleaved",
    "rope-neighbours-to-halves",
    "rope-clockwise",
    "rope-exponent-halved",
    "rope-base-ignored",
    "rope-angles-input-dtype",
    "rope-positions-bfloat16",
)

MISTAKES: core.Mistakes = {
    "cached_attention": {
        "cache-positions-restart": {"position": "restart"},
        "cache-position-one-late": {"position": "one-late"},
        "cache-position-after-append": {"position": "after-append"},
        "cache-position-shared": {"position": "shared"},
        "cache-query-position-restarts": {"position": "queries-restart"},
        "cache-mask-top-left": {"causal": "top-left"},
        "causal-missing": {"causal": "missing"},
        "causal-hides-self": {"causal": "hides-self", "empty": "nan"},
        "causal-hides-self-mean": {"causal": "hides-self", "empty": "mean"},
        "cache-never-read": {"sees": "new"},
        "decode-new-token-unseen": {"sees": "cache"},
        "decode-prepended": {"append": "before"},
        "cache-written-from-start": {"append": "from-start"},
        "cache-keys-rotated-again": {"cached": "again"},
        "cache-holds-unrotated-keys": {"cached": "raw"},
        "cache-rotated-at-read": {"cached": "at-read"},
        "rope-missing": {"rotated": "none"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        "rope-on-values": {"rotated": "all"},
        **{name: rope.MISTAKES["apply_rope"][name] for name in _ROTATION},
        "decode-key-written-as-value": {"value": "key"},
        "decode-caches-swapped": {"returned": "swapped"},
        "kv-weights-swapped": {"roles": "kv-swapped"},
        "kv-heads-tiled": {"share": "tile"},
        "kv-first-head-for-all": {"share": "first"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-d-over-heads": {"scale": "width-by-division"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-overflow": {"form": "naive"},
        "mask-after-softmax": {"masking": "after"},
        "mask-fill-weak": {"masking": "weak"},
        "heads-split-without-transpose": {"split": "reshape"},
        "heads-merged-without-transpose": {"merge": "reshape"},
    }
}
