"""The family of `sliding-window`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core


def _seen(how: str, length: int, window: int, device: torch.device) -> Tensor:
    """bool (T, T): the keys that each query sees; see `sliding_window_attention`."""
    keys = torch.arange(length, device=device)  # (T,)
    queries = keys[:, None]  # (T, 1)
    distance = queries - keys  # (T, T)
    causal, block = distance >= 0, keys // window
    right = causal & (distance < window)
    return {
        "right": lambda: right,
        "one-too-many": lambda: causal & (distance <= window),
        "one-short": lambda: causal & (distance < window - 1),
        "before": lambda: (distance >= 1) & (distance <= window),
        "hides-self": lambda: right & (distance >= 1),
        "ignored": lambda: causal,
        "future-open": lambda: distance < window,
        "two-sided": lambda: distance.abs() < window,
        "centred": lambda: distance.abs() <= window // 2,
        "ahead": lambda: (distance <= 0) & (-distance < window),
        "blocks": lambda: causal & (block == block[:, None]),
        "blocks-untrimmed": lambda: causal & (block >= block[:, None] - 1),
        "from-start": lambda: causal & (keys < window),
        "inverted": lambda: ~right,
    }[how]()


def _preceded(kv: Tensor, rows: int, by: str) -> Tensor:
    """(B, H, T, D) with `rows` rows in front: zeros, or position 0 again and again."""
    first = kv[:, :, :1].expand(-1, -1, rows, -1)  # (B, H, rows, D)
    return torch.cat([torch.zeros_like(first) if by == "zeros" else first, kv], dim=2)


def sliding_window_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    window: int,
    *,
    seen: str = "right",
    roles: str = "right",
    **switches: Any,
) -> Tensor:
    """Sliding-window attention, with the switches of `core.attend` too.

    seen   right; one-too-many; one-short; before (the window ends one before the query);
           hides-self; ignored (all the past); future-open (no causal bound); two-sided; centred;
           ahead; blocks (the past within the query's block); blocks-untrimmed (and the whole
           block before); from-start (the first `window` keys); inverted; zero-slots and
           first-repeated (`window` slots always: what lies before the start is zero, or position 0)
    roles  right, or keys-as-values
    Arguments and result as `reference.sliding_window.sliding_window_attention`.
    """
    values = v if roles == "right" else k
    length = q.shape[-2]
    if seen in ("zero-slots", "first-repeated"):
        by = "zeros" if seen == "zero-slots" else "first"
        keys, slots = (_preceded(x, window - 1, by) for x in (k, values))  # (B, H, T+window-1, D)
        ones = torch.ones(length, length + window - 1, dtype=torch.bool, device=q.device)
        return core.attend(q, keys, slots, ones.triu() & ones.tril(window - 1), **switches)
    return core.attend(q, k, values, _seen(seen, length, window, q.device), **switches)


MISTAKES: core.Mistakes = {
    "sliding_window_attention": {
        "window-one-too-many": {"seen": "one-too-many"},
        "window-one-short": {"seen": "one-short", "empty": "nan"},
        "window-one-short-mean": {"seen": "one-short", "empty": "mean"},
        "window-excludes-self": {"seen": "before", "empty": "nan"},
        "window-excludes-self-mean": {"seen": "before", "empty": "mean"},
        "window-hides-self": {"seen": "hides-self", "empty": "nan"},
        "window-hides-self-mean": {"seen": "hides-self", "empty": "mean"},
        "window-ignored": {"seen": "ignored"},
        "window-future-open": {"seen": "future-open"},
        "window-two-sided": {"seen": "two-sided"},
        "window-centred": {"seen": "centred"},
        "window-ahead": {"seen": "ahead"},
        "window-blocks": {"seen": "blocks"},
        "window-blocks-untrimmed": {"seen": "blocks-untrimmed"},
        "window-from-start": {"seen": "from-start"},
        "window-inverted": {"seen": "inverted", "empty": "nan"},
        "window-inverted-mean": {"seen": "inverted", "empty": "mean"},
        # More slots than rows: their weights cannot be transposed.
        "window-padding-visible": {"seen": "zero-slots", "mix": "right"},
        "window-first-key-repeated": {"seen": "first-repeated", "mix": "right"},
        **core.MASKING,
        "mask-fill-weak-added": {"masking": "weak-added"},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-model-width": {"scale": "model-width"},
        "scale-by-n-heads": {"scale": "heads"},
        "scale-by-key-count": {"scale": "keys"},
        "softmax-over-queries": {"softmax": "queries"},
        "softmax-over-batch": {"softmax": "batch"},
        "softmax-over-heads": {"softmax": "heads", "empty": "nan"},
        "softmax-over-heads-finite": {"softmax": "heads", "empty": "mean"},
        "softmax-overflow": {"form": "naive"},
        "softmax-overflow-zero": {"form": "naive-zero"},
        "softmax-twice": {"form": "twice"},
        "keys-as-values": {"roles": "keys-as-values"},
        "mix-transposed": {"mix": "transposed"},
    }
}
