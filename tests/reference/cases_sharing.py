"""Inputs for the drills of shared heads, other sequences and windows."""

from __future__ import annotations

import torch
from drawing import Args, drawing

DRILLS = {
    "rope-interleaved": ("rope_interleaved.apply_rope", "rope_interleaved.apply_rope"),
    "mqa": ("mqa.mqa", "mqa.mqa"),
    "cross-attention": ("cross_attention.cross_attention", "cross_attention.cross_attention"),
    "sliding-window": (
        "sliding_window.sliding_window_attention",
        "sliding_window.sliding_window_attention",
    ),
}

BASELINES = {
    "rope-interleaved": ("rope_interleaved", "complex", "partners", "written", "matrix"),
    "mqa": ("sharing", "per_head", "tiled", "finite_fill", "folded"),
    "cross-attention": ("sharing", "einsum", "per_head", "tiled", "per_sequence"),
    "sliding-window": ("sharing", "einsum", "tiled", "finite_fill", "per_query", "unfolded"),
}


def _rope(dtype: torch.dtype) -> list[Args]:
    draw = drawing(11, dtype)
    return [
        (draw(2, 3, 5, 8), torch.tensor([3, 0, 17, 5, 9])),
        (draw(1, 2, 4, 16), torch.tensor([1001, 4095, 15962, 32767]), 500000.0),
        (draw(1, 2, 3, 6), torch.tensor([7, 8, 9]), 100.0),
        (draw(1, 1, 3, 2), torch.arange(3)),
    ]


def _negative(q: torch.Tensor, k: torch.Tensor) -> None:
    """Scores of tens of thousands below 0, higher for later keys: a weak fill outranks them."""
    keys = k.shape[-2]
    q[..., 0], k[..., 0] = 300.0, -100.0 * torch.arange(keys, 0, -1)


def _mqa(dtype: torch.dtype) -> list[Args]:
    draw = drawing(12, dtype)

    def args(b: int, h: int, t: int, s: int, d: int, std: float = 1.5) -> Args:
        return draw(b, h, t, d, std=std), draw(b, 1, s, d, std=std), draw(b, 1, s, d)

    negative = args(1, 2, 3, 5, 4)
    _negative(*negative[:2])
    return [
        args(2, 3, 4, 7, 8), args(1, 4, 5, 5, 6), args(2, 5, 1, 6, 4), negative,
        args(1, 2, 4, 6, 9, std=40.0), args(2, 2, 4, 5, 3),
    ]  # fmt: skip


def _cross(dtype: torch.dtype) -> list[Args]:
    draw = drawing(13, dtype)

    def args(b: int, t: int, s: int, d: int, h: int, lengths: list[int], gain: float = 1.5) -> Args:
        x, context = draw(b, t, d), draw(b, s, d)
        for i, n in enumerate(lengths):
            context[i, n:] = context[i, n:] * 4.0 + 3.0
        w = [draw(d, d, std=gain * d**-0.5) for _ in range(4)]
        return x, context, *w, h, torch.tensor(lengths)

    negative = args(2, 3, 4, 8, 2, [3, 2])
    negative[0][..., 0], negative[1][..., 0] = 100.0, 100.0 * torch.arange(4, 0, -1)
    negative[2][0::4, 0], negative[3][0::4, 0] = 2.0, -2.0
    return [
        args(3, 5, 7, 12, 3, [4, 7, 1]), args(2, 4, 4, 8, 2, [3, 4]), negative,
        args(2, 6, 3, 10, 5, [2, 3])[:-1], args(2, 3, 5, 8, 2, [2, 4], gain=14.0),
    ]  # fmt: skip


def _window(dtype: torch.dtype) -> list[Args]:
    draw = drawing(14, dtype)

    def args(b: int, h: int, t: int, d: int, window: int, std: float = 1.5) -> Args:
        return draw(b, h, t, d, std=std), draw(b, h, t, d, std=std), draw(b, h, t, d), window

    negative = args(1, 2, 5, 4, 2)
    _negative(*negative[:2])
    return [
        args(2, 3, 7, 8, 3), args(1, 2, 6, 4, 1), args(2, 2, 5, 6, 9), negative,
        args(1, 2, 6, 9, 3, std=40.0), args(2, 2, 11, 4, 4), args(1, 2, 4, 5, 4),
    ]  # fmt: skip


CASES = {
    "rope-interleaved": _rope,
    "mqa": _mqa,
    "cross-attention": _cross,
    "sliding-window": _window,
}

# The rotation's angles are float32 in the baselines: an angle of 3e4 radians is known to 2e-3.
LOOSE = {"rope-interleaved": 5e-3}
GRADED = ["rope-interleaved", "mqa", "cross-attention", "sliding-window"]
