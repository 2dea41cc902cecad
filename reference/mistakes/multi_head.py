"""The family of `causal-mha`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import core
from reference.mistakes.projected import attention_layer


def causal_mha(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    **switches: Any,
) -> Tensor:
    """Causal multi-head attention with the switches of `projected.attention_layer`.

    Arguments and result as `reference.multi_head.causal_mha`.
    """
    return attention_layer(x, (w_q, w_k, w_v), w_o, n_heads, n_heads, **switches)


SHARED: dict[str, dict[str, object]] = {
    **core.SCALE,
    **core.SOFTMAX,
    **core.MASKING,
    **core.CAUSAL,
    "heads-split-without-transpose": {"split": "reshape"},
    "heads-merged-without-transpose": {"merge": "reshape"},
    "heads-interleaved": {"split": "interleaved", "merge": "interleaved"},
    "heads-split-interleaved": {"split": "interleaved"},
    "heads-not-split": {"split": "none"},
    "output-projection-missing": {"output": "none"},
    "kv-weights-swapped": {"roles": "kv-swapped"},
    "qk-weights-swapped": {"roles": "qk-swapped"},
    "keys-as-values": {"roles": "keys-as-values"},
    "queries-as-keys": {"roles": "queries-as-keys"},
    "values-unprojected": {"values": "input"},
    "mix-transposed": {"mix": "transposed"},
}

MISTAKES: core.Mistakes = {
    "causal_mha": {
        **SHARED,
        "softmax-over-batch": {"softmax": "batch"},
        "heads-merged-interleaved": {"merge": "interleaved"},
        "weights-not-transposed": {"transposed": "all"},
        "query-weight-not-transposed": {"transposed": "query"},
        "key-weight-not-transposed": {"transposed": "key"},
        "value-weight-not-transposed": {"transposed": "value"},
        "output-weight-not-transposed": {"transposed": "output"},
        "batch-as-sequence": {"batch": "sequence"},
    }
}
