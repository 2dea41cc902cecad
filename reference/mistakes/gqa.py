"""The family of `gqa`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import core
from reference.mistakes.projected import attention_layer


def gqa(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int,
    **switches: Any,
) -> Tensor:
    """Causal grouped-query attention with the switches of `projected.attention_layer`.

    Arguments and result as `reference.gqa.gqa`.
    """
    return attention_layer(x, (w_q, w_k, w_v), w_o, n_heads, n_kv_heads, **switches)


SHARING: dict[str, dict[str, object]] = {
    "kv-heads-tiled": {"share": "tile"},
    "kv-first-head-for-all": {"share": "first"},
    "kv-heads-averaged": {"share": "mean"},
    "kv-heads-reversed": {"share": "reversed"},
}

SHARED: dict[str, dict[str, object]] = {
    **SHARING,
    "scale-none": {"scale": "none"},
    "scale-without-root": {"scale": "width"},
    "scale-by-model-width": {"scale": "model-width"},
    "scale-by-d-over-heads": {"scale": "width-by-division"},
    "scale-by-n-heads": {"scale": "heads"},
    **core.CAUSAL,
    "mask-after-softmax": {"masking": "after"},
    "mask-fill-zero": {"masking": "zero"},
    "mask-fill-weak": {"masking": "weak"},
    "mask-added": {"masking": "added"},
    "softmax-over-queries": {"softmax": "queries"},
    "softmax-twice": {"form": "twice"},
    "heads-split-without-transpose": {"split": "reshape"},
    "heads-merged-without-transpose": {"merge": "reshape"},
    "kv-split-without-transpose": {"kv_split": "reshape"},
    "kv-weights-swapped": {"roles": "kv-swapped"},
    "keys-as-values": {"roles": "keys-as-values"},
}

MISTAKES: core.Mistakes = {
    "gqa": {
        **SHARED,
        "softmax-over-batch": {"softmax": "batch"},
        "softmax-over-kv-heads": {"softmax": "kv-heads"},
        "softmax-over-group": {"softmax": "group"},
    }
}
