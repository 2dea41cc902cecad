"""The family of `causal-mha-numpy`: that of `causal-mha`, with NumPy's weight convention."""

from __future__ import annotations

from typing import Any

import torch

from reference.mistakes import core, multi_head
from reference.numpy_attention import Array


def causal_mha(
    X: Array, Wq: Array, Wk: Array, Wv: Array, Wo: Array, n_heads: int, **switches: Any
) -> Array:
    """Causal multi-head attention with the switches of `projected.attention_layer`.

    Arguments and result as `reference.numpy_attention.causal_mha`.
    """
    x = torch.from_numpy(X)[None]  # (1, T, d)
    # Each (d, d), as nn.Linear stores it.
    w_q, w_k, w_v, w_o = (torch.from_numpy(W).T for W in (Wq, Wk, Wv, Wo))
    out: Array = multi_head.causal_mha(x, w_q, w_k, w_v, w_o, n_heads, **switches)[0].numpy()
    return out  # (T, d)


MISTAKES: core.Mistakes = {
    "causal_mha": {
        **multi_head.SHARED,
        "weights-transposed": {"transposed": "all"},
        "query-weight-transposed": {"transposed": "query"},
        "key-weight-transposed": {"transposed": "key"},
        "value-weight-transposed": {"transposed": "value"},
        "output-weight-transposed": {"transposed": "output"},
    }
}
