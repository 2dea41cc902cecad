"""The family of `kv-cache-decode`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, gqa
from reference.mistakes.projected import share_heads


def _seen(how: str, cache: Tensor, new: Tensor, grown: Tensor) -> Tensor:
    """What the query attends to, of keys or of values."""
    return {
        "all": lambda: grown,
        "cache-only": lambda: cache,
        "last": lambda: new,
        "first": lambda: grown[:, :, :1],
        "oldest-dropped": lambda: grown[:, :, -max(cache.shape[2], 1) :],
        "first-skipped": lambda: grown[:, :, 1:],
        "empty-slot": lambda: torch.cat([grown, torch.zeros_like(new)], dim=2),
        "new-twice": lambda: torch.cat([grown, new], dim=2),
    }[how]()


def decode_step(
    q: Tensor,
    k_new: Tensor,
    v_new: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    *,
    append: str = "after",
    value: str = "value",
    sees: str = "all",
    roles: str = "right",
    share: str = "repeat",
    returned: str = "right",
    **switches: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """One decoding step, with the switches of `core.attend` too; as the reference.

    append    after the cache, or before it
    value     what is written to the value cache: the new value, or the new key
    sees      all; cache-only; last (the new token alone); first (position 0 alone);
              oldest-dropped (where there is an older one); first-skipped (in any case);
              empty-slot (a slot of zeros more); new-twice
    roles     right, or keys-as-values: the keys are mixed
    share     `projected.share_heads`
    returned  right, or swapped: the value cache before the key cache
    """
    if value == "key":
        v_new = k_new
    parts = ((k_cache, k_new), (v_cache, v_new))
    k, v = (
        torch.cat([cache, new] if append == "after" else [new, cache], dim=2)
        for cache, new in parts
    )  # (B, H_kv, S+1, D)
    keys = share_heads(_seen(sees, k_cache, k_new, k), q.shape[1], share)  # (B, H, seen, D)
    values = share_heads(_seen(sees, v_cache, v_new, v), q.shape[1], share)  # (B, H, seen, D)
    out = core.attend(q, keys, values if roles == "right" else keys, None, **switches)
    return (out, k, v) if returned == "right" else (out, v, k)


MISTAKES: core.Mistakes = {
    "decode_step": {
        "decode-prepended": {"append": "before"},
        "decode-key-written-as-value": {"value": "key"},
        "decode-new-token-unseen": {"sees": "cache-only"},
        "decode-last-key-only": {"sees": "last"},
        "decode-first-key-only": {"sees": "first"},
        "decode-oldest-dropped": {"sees": "oldest-dropped"},
        "decode-first-slot-skipped": {"sees": "first-skipped"},
        "decode-empty-slot-visible": {"sees": "empty-slot"},
        "decode-new-token-twice": {"sees": "new-twice"},
        "decode-caches-swapped": {"returned": "swapped"},
        **gqa.SHARING,
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-model-width": {"scale": "model-width"},
        "scale-by-key-count": {"scale": "keys"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-over-heads": {"softmax": "heads"},
        "softmax-overflow": {"form": "naive"},
        "keys-as-values": {"roles": "keys-as-values"},
    }
}
