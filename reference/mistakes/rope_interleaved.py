"""The family of `rope-interleaved`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from reference.mistakes import rope
from reference.mistakes.core import Mistakes


def apply_rope(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    pairing: str = "interleaved",
    **switches: Any,
) -> Tensor:
    """Interleaved rotary embedding of x (B, H, T, D), with the switches of `rope.apply_rope`.

    Arguments and result as `reference.rope_interleaved.apply_rope`.
    """
    return rope.apply_rope(x, positions, base, pairing=pairing, **switches)


# The two lines of a rotation are halves there and neighbours here: these have names of their own.
_HALVES = (
    *("rope-interleaved", "rope-mixed", "rope-neighbours-to-halves"),
    *("rope-second-half-kept", "rope-half-overwritten"),
)

MISTAKES: Mistakes = {
    "apply_rope": {
        "rope-half-split": {"pairing": "half-split"},
        "rope-table-half-split": {"pairing": "table-halves"},
        "rope-written-in-halves": {"pairing": "to-halves"},
        "rope-odd-kept": {"turn": "second-kept"},
        "rope-odd-from-new-even": {"turn": "overwritten"},
        **{
            name: switches
            for name, switches in rope.MISTAKES["apply_rope"].items()
            if name not in _HALVES
        },
    }
}
