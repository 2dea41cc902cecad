"""The family of `cached-gqa`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import cached_attention, core, gqa


def cached_gqa(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    k_cache: Tensor,
    v_cache: Tensor,
    **switches: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """`cached_attention.cached_attention` without a rotation, and its switches; as the
    reference."""
    weights = (w_q, w_k, w_v, w_o)
    return cached_attention.cached_attention(
        x, *weights, n_heads, n_kv_heads, k_cache, v_cache, rotated="none", **switches
    )


MISTAKES: core.Mistakes = {
    "cached_gqa": {
        "cache-mask-top-left": {"causal": "top-left"},
        "cache-mask-first-call-only": {"causal": "first-call"},
        "cache-mask-over-oldest": {"causal": "over-oldest"},
        "cache-new-tokens-apart": {"causal": "apart"},
        "cache-never-read": {"sees": "new"},
        "decode-new-token-unseen": {"sees": "cache"},
        "decode-prepended": {"append": "before"},
        "cache-written-from-start": {"append": "from-start"},
        "decode-key-written-as-value": {"value": "key"},
        "decode-caches-swapped": {"returned": "swapped"},
        **gqa.SHARED,
        "keys-as-values": {"mixes": "keys"},
        "scale-by-key-count": {"scale": "keys"},
        "softmax-over-kv-heads": {"softmax": "kv-heads"},
        "softmax-over-group": {"softmax": "group"},
        "softmax-overflow": {"form": "naive"},
        "mask-fill-weak-added": {"masking": "weak-added"},
    }
}
