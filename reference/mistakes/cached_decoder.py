"""The family of `debug-cached-decoder`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import cached_attention, core

Cache = tuple[Tensor, Tensor]  # keys and values, (B, H_kv, S, D)


def _written(cache: Cache, new: Cache, at: int) -> Cache:
    """The caches after the new tokens were written to the slots from `at` on, and those past the
    end were made."""
    grown = []
    for old, fresh in zip(cache, new, strict=True):
        buffer = torch.cat([old, torch.zeros_like(fresh)], dim=2)  # (B, H_kv, S+T, D)
        buffer[:, :, at : at + fresh.shape[2]] = fresh
        grown.append(buffer)
    return grown[0], grown[1]


def decode_in_chunks(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    prefill: int,
    chunk: int,
    *,
    slot: str = "right",
    mask: str = "every-call",
    caches: str = "by-layer",
    causal: str = "right",
    **switches: Any,
) -> Tensor:
    """A decoder that takes `prefill` tokens and then `chunk` at a time; arguments and result as
    the reference.

    slot    where new keys and values are written: after those before, or by-call (the number of
            the call times its own length), or start (over the oldest)
    mask    in every-call, or first-call: none while the cache holds anything
    caches  by-layer, or one: every layer writes over the other's
    The rest are switches of `cached_attention.cached_attention`.
    """
    count = 1 if caches == "one" else len(w_q)
    width = w_q.shape[1] // n_heads
    empty = x.new_zeros(x.shape[0], n_kv_heads, 0, width)  # (B, H_kv, 0, D)
    kept: list[Cache] = [(empty, empty)] * count
    outs: list[Tensor] = []
    past = call = 0
    while past < x.shape[1]:
        h = x[:, past : past + (chunk if call else prefill)]  # (B, T, d)
        new = h.shape[1]
        how = "missing" if mask == "first-call" and past else causal
        for layer, weights in enumerate(zip(w_q, w_k, w_v, w_o, strict=True)):
            place = layer % count
            before = kept[place][0][:, :, :past], kept[place][1][:, :, :past]

            def attend(
                cache: Cache,
                h: Tensor = h,
                weights: tuple[Tensor, Tensor, Tensor, Tensor] = weights,
                how: str = how,
            ) -> tuple[Tensor, Tensor, Tensor]:
                return cached_attention.cached_attention(
                    h, *weights, n_heads, n_kv_heads, *cache, causal=how, **switches
                )

            out, k, v = attend(before)
            kept[place] = k, v
            if slot != "right":  # written before it is read: older tokens may be lost by then
                at = call * new if slot == "by-call" else 0
                fresh = k[:, :, past:], v[:, :, past:]
                kept[place] = _written(before, fresh, at)
                if past > at:
                    lost = kept[place][0][:, :, :past], kept[place][1][:, :, :past]
                    out, _, _ = attend(lost)
            h = h + out  # (B, T, d)
        outs.append(h)
        past, call = past + new, call + 1
    return torch.cat(outs, dim=1)  # (B, T, d)


MISTAKES: core.Mistakes = {
    "decode_in_chunks": {
        "cache-positions-restart": {"position": "restart"},
        "cache-mask-first-call-only": {"mask": "first-call"},
        "cache-keys-kept-unrotated": {"cached": "raw"},
        "cache-slot-by-call": {"slot": "by-call"},
        "cache-written-from-start": {"slot": "start"},
        "cache-position-after-append": {"position": "after-append"},
        "cache-position-shared": {"position": "shared"},
        "cache-query-position-restarts": {"position": "queries-restart"},
        "cache-mask-top-left": {"causal": "top-left"},
        "causal-missing": {"causal": "missing"},
        "causal-hides-self": {"causal": "hides-self", "empty": "nan"},
        "cache-never-read": {"sees": "new"},
        "cache-keys-rotated-again": {"cached": "again"},
        "cache-shared-by-layers": {"caches": "one"},
        "decode-key-written-as-value": {"value": "key"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        "rope-on-values": {"rotated": "all"},
        "rope-interleaved": {"pairing": "interleaved"},
        "rope-angles-bfloat16": {"precision": "bfloat16"},
        "rope-angles-rounded-bfloat16": {"precision": "bfloat16-rounded"},
        "kv-heads-tiled": {"share": "tile"},
        "kv-first-head-for-all": {"share": "first"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-d-over-heads": {"scale": "width-by-division"},
    }
}
