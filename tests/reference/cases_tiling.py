"""Inputs for the drills in tiles, of linear attention, and of the backward pass."""

from __future__ import annotations

import torch
from drawing import Args, drawing

DRILLS = {
    "flash-attention": ("flash_attention.flash_attention", "flash_attention.flash_attention"),
    "merge-attention": ("merge_attention.merge_attention", "merge_attention.merge_attention"),
    "linear-attention": ("linear_attention.linear_attention", "linear_attention.linear_attention"),
    "attention-backward": (
        "attention_backward.attention_backward",
        "attention_backward.attention_backward",
    ),
}

BASELINES = {
    "flash-attention": ("tiling", "query_tiles", "backwards", "two_pass", "merged"),
    "merge-attention": ("tiling", "log_space", "sigmoid", "stacked", "moved"),
    "linear-attention": ("linear", "running", "square", "chunks", "augmented"),
    "attention-backward": ("backward", "epsilon", "jacobian", "rows", "tiles"),
}


def _flash(dtype: torch.dtype) -> list[Args]:
    draw = drawing(21, dtype)

    def args(b: int, h: int, t: int, s: int, d: int, std: float = 1.5) -> Args:
        return draw(b, h, t, d, std=std), draw(b, h, s, d, std=std), draw(b, h, s, d)

    late = args(2, 2, 4, 10, 4)
    late[1][..., 8:, :] *= 4.0
    low, lower = args(1, 2, 3, 7, 4), args(1, 2, 4, 7, 4)
    low[0][..., 0], low[1][..., 0] = 40.0, -100.0
    lower[0][..., 0], lower[1][..., 0] = 300.0, -300.0
    fallen = args(1, 2, 3, 8, 4)
    fallen[0][..., 0], fallen[1][..., 0] = 20.0, 20.0
    fallen[1][..., 4:, 0] = -20.0
    apart = args(1, 2, 4, 6, 4)
    apart[0][..., 0], apart[1][..., 0] = 1.0, 300.0
    apart[0][..., 2, 0] = -1.0
    if dtype == torch.bfloat16:  # whose rounding of large scores is large
        return [(*args(2, 3, 5, 9, 4), 4), (*args(2, 2, 4, 9, 5), 3, True)]
    return [
        (*args(2, 3, 5, 9, 4), 4), (*args(2, 2, 7, 7, 3), 3, True), (*args(2, 2, 4, 9, 5), 3, True),
        (*late, 4, False), (*low, 3), (*lower, 3, True), (*lower, 2), (*fallen, 4), (*apart, 2),
        (*args(1, 2, 7, 5, 4), 4, False), (*args(1, 2, 3, 5, 6), 16, True),
        (*args(2, 2, 8, 8, 4), 2, True),
    ]  # fmt: skip


def _merge(dtype: torch.dtype) -> list[Args]:
    draw = drawing(22, dtype)

    def args(b: int, h: int, t: int, d: int, at: float = 0.0, std: float = 1.5) -> Args:
        lse = (draw(b, h, t, std=std) + at for _ in range(2))
        return draw(b, h, t, d), next(lse), draw(b, h, t, d), next(lse)

    first_empty, second_empty = args(2, 2, 4, 3), args(2, 2, 4, 3)
    first_empty[1][:, 0, 1:] = -torch.inf
    first_empty[0][:, 0, 1:] += 5.0
    second_empty[3][0] = -torch.inf
    second_empty[2][0] += 5.0
    wide = args(1, 2, 3, 4)
    wide[3][..., 1] += 200.0
    wide[1][..., 2] += 300.0
    if dtype == torch.bfloat16:
        return [args(2, 3, 5, 4), first_empty, second_empty]
    return [
        args(2, 3, 5, 4), first_empty, second_empty, wide, args(1, 2, 3, 4, at=-500.0),
        args(1, 2, 3, 4, at=500.0),
    ]  # fmt: skip


def _linear(dtype: torch.dtype) -> list[Args]:
    draw = drawing(23, dtype)

    def args(b: int, h: int, t: int, d: int, dv: int) -> Args:
        return draw(b, h, t, d) + 0.3, draw(b, h, t, d) + 0.3, draw(b, h, t, dv)

    near = [args(2, 3, 5, 4, 6), args(1, 2, 9, 3, 2), args(2, 2, 4, 4, 4), args(2, 1, 1, 5, 3)]
    low = args(1, 2, 4, 3, 4)  # first rows with a normaliser below 1
    low[0].sub_(1.3)
    low[1].sub_(1.3)
    return [*near, low, args(1, 1, 37, 3, 2)]  # the last is longer than a chunk


def _backward(dtype: torch.dtype) -> list[Args]:
    draw = drawing(24, dtype)

    def args(b: int, h: int, t: int, d: int, std: float = 1.5) -> Args:
        return (
            draw(b, h, t, d, std=std),
            draw(b, h, t, d, std=std),
            draw(b, h, t, d),
            draw(b, h, t, d),
        )

    if dtype == torch.bfloat16:
        return [args(2, 3, 5, 4), args(2, 2, 4, 4)]
    large = args(1, 2, 4, 4)
    large[0][..., 0], large[1][..., 0] = 30.0, 30.0
    near = [args(2, 3, 5, 4), args(1, 2, 7, 3), args(2, 2, 4, 4)]
    low = args(1, 2, 4, 4)  # scores near -12,000: a weak fill outranks them
    low[0][..., 0], low[1][..., 0] = 200.0, -120.0
    return [*near, large, low]


CASES = {
    "flash-attention": _flash,
    "merge-attention": _merge,
    "linear-attention": _linear,
    "attention-backward": _backward,
}

# A baseline each adds an epsilon to the normaliser, which is no fault.
LOOSE = {"linear-attention": 1e-5, "attention-backward": 1e-4, "merge-attention": 1e-5}
GRADED = ["linear-attention"]
