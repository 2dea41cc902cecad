"""Causal multi-head self-attention in NumPy, for one sequence.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2; weights stored
(in, out), so that a projection is `X @ W`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def causal_mha(X: Array, Wq: Array, Wk: Array, Wv: Array, Wo: Array, n_heads: int) -> Array:
    """Causal multi-head attention of one sequence.

    X (T, d), each W (d, d), float32 or float64; n_heads divides d. Returns (T, d), X's dtype.
    """
    length, width = X.shape

    q, k, v = (
        (X @ W).reshape(length, n_heads, -1).swapaxes(0, 1)  # (H, T, D)
        for W in (Wq, Wk, Wv)
    )
    scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1], dtype=X.dtype)  # (H, T, T)
    future = np.triu(np.ones((length, length), dtype=bool), k=1)  # (T, T)
    scores = np.where(future, -np.inf, scores).astype(X.dtype)  # (H, T, T)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))  # (H, T, T)
    weights = weights / weights.sum(axis=-1, keepdims=True)  # (H, T, T)
    merged = (weights @ v).swapaxes(0, 1).reshape(length, width)  # (T, d)
    return np.asarray(merged @ Wo)  # (T, d)
