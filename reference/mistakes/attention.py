"""The family of `attention`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import core


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    mask_of: str = "each",
    **switches: Any,
) -> Tensor:
    """Attention with the switches of `core.attend`, and `mask_of`: each, first-head, first-batch.

    Arguments and result as `reference.attention.attention`.
    """
    if mask is not None:
        if mask_of == "first-head" and mask.ndim > 2:
            mask = mask[..., :1, :, :]
        if mask_of == "first-batch" and mask.ndim > 3:
            mask = mask[:1]
    return core.attend(q, k, v, mask, **switches)


MISTAKES: core.Mistakes = {
    "attention": {
        **core.SCALE,
        "scale-by-query-count": {"scale": "queries"},
        "scale-by-value-width": {"scale": "value-width"},
        **core.SOFTMAX,
        "softmax-overflow-zero": {"form": "naive-zero"},
        "softmax-over-heads": {"softmax": "heads"},
        "softmax-over-batch": {"softmax": "batch"},
        **core.MASKING,
        "mask-fill-weak-added": {"masking": "weak-added"},
        "mask-ignored": {"masking": "ignored"},
        "mask-inverted": {"polarity": "hide"},
        "mask-first-head": {"mask_of": "first-head"},
        "mask-first-batch": {"mask_of": "first-batch"},
        "empty-rows-nan": {"empty": "nan"},
        "empty-rows-mean": {"empty": "mean"},
        "empty-rows-see-all": {"empty": "all"},
    }
}
