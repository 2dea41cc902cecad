"""Inputs for latent attention and three debug drills, on which their known mistakes show."""

from __future__ import annotations

import torch
from drawing import Args, drawing

# The drill's reference, its family, and the name of its cases below.
DRILLS = {
    "mla": ("latent.latent_attention", "latent.latent_attention"),
    "mla-decode": ("latent.latent_decode", "latent.latent_decode"),
    "debug-gqa-rope": ("rope_gqa.rope_gqa", "rope_gqa.rope_gqa"),
    "debug-mla": ("latent_rope.latent_rope_attention", "latent_rope.latent_rope_attention"),
    "debug-padding": (
        "left_padding.left_padded_attention",
        "left_padding.left_padded_attention",
    ),
}

BASELINES = {
    "mla": ("latent", "einsum", "absorbed", "per_head", "tiled"),
    "mla-decode": ("latent", "einsum", "expanded", "per_head", "blocks"),
    "debug-gqa-rope": ("rope_gqa", "einsum", "per_head", "tiled", "grouped"),
    "debug-mla": ("latent_rope", "einsum", "per_head", "tiled", "absorbed"),
    "debug-padding": ("left_padding", "einsum", "tiled", "finite_fill", "cut"),
}


def _mla(dtype: torch.dtype) -> list[Args]:
    draw = drawing(41, dtype)

    def args(b: int, t: int, d: int, h: int, width: int, value: int, latent: int) -> Args:
        x, w_q = draw(b, t, d, std=1.5), draw(h * width, d, std=d**-0.5)
        w_dkv = draw(latent, d, std=1.5 * d**-0.5)
        w_uk, w_uv = (draw(h * n, latent, std=latent**-0.5) for n in (width, value))
        return x, w_q, w_dkv, w_uk, w_uv, draw(d, h * value, std=(h * value) ** -0.5), h

    low = list(args(1, 4, 8, 2, 4, 4, 6))
    # Every score is near -2e4: the weak fill outranks them.
    low[0][..., 0], low[1][:, 0], low[2][0, 0], low[3][:, 0] = 1.0, 100.0, 100.0, -1.0
    return [args(2, 5, 20, 3, 8, 8, 12), args(2, 4, 8, 2, 6, 3, 10), tuple(low)]


def _mla_decode(dtype: torch.dtype) -> list[Args]:
    draw = drawing(42, dtype)

    def args(b: int, h: int, s: int, width: int, value: int, latent: int) -> Args:
        w_uk, w_uv = (draw(h * n, latent, std=latent**-0.5) for n in (width, value))
        return draw(b, h, 1, width, std=1.5), draw(b, s, latent, std=1.5), w_uk, w_uv

    # Every score is near -1200: all exponentials vanish.
    far = list(args(2, 2, 5, 4, 4, 6))
    far[0] += 60.0
    far[1][..., 0], far[2][:, 0] = 10.0, -1.0
    near = [args(2, 4, 5, 6, 6, 12), args(2, 3, 6, 4, 6, 9), args(2, 2, 7, 3, 3, 4)]
    near.append(args(2, 2, 1, 4, 3, 6))
    # bfloat16 rounds scores of that size by whole numbers.
    return near if dtype == torch.bfloat16 else [*near, tuple(far)]


def _latent_rope(dtype: torch.dtype) -> list[Args]:
    draw = drawing(45, dtype)

    def args(b: int, d: int, h: int, widths: list[int], positions: list[int]) -> Args:
        content, rotary, value, latent = widths
        w_q = draw(h * (content + rotary), d, std=1.5 * d**-0.5)
        w_dkv = draw(latent + rotary, d, std=1.5 * d**-0.5)
        w_uk, w_uv = (draw(h * n, latent, std=latent**-0.5) for n in (content, value))
        w_o, x = draw(d, h * value, std=(h * value) ** -0.5), draw(b, len(positions), d, std=1.5)
        return x, w_q, w_dkv, w_uk, w_uv, w_o, h, torch.tensor(positions)

    return [
        args(2, 20, 3, [5, 8, 7, 9], [2, 3, 9, 4, 11]),
        (*args(1, 12, 2, [6, 4, 6, 10], [0, 5, 6, 40]), 300.0),
    ]


def _rope_gqa(dtype: torch.dtype) -> list[Args]:
    draw = drawing(43, dtype)

    def args(b: int, t: int, h: int, kv: int, width: int, positions: list[int]) -> Args:
        k, v = draw(b, t, kv, width, std=1.5), draw(b, t, kv, width)
        return draw(b, t, h, width, std=1.5), k, v, torch.tensor(positions)

    return [
        args(2, 5, 6, 3, 8, [2, 3, 9, 4, 11]),
        (*args(1, 4, 4, 2, 6, [0, 5, 6, 40]), 300.0),
        args(2, 3, 6, 2, 4, [8, 2, 5]),
    ]


def _left_padding(dtype: torch.dtype) -> list[Args]:
    draw = drawing(44, dtype)

    def args(b: int, h: int, t: int, width: int, lengths: list[int]) -> Args:
        q, k, v = (draw(b, h, t, width, std=1.5) for _ in range(3))
        for i, n in enumerate(lengths):
            v[i, :, : t - n] += 50.0
        return q, k, v, torch.tensor(lengths)

    negative = args(2, 2, 4, 8, [3, 2])
    negative[0][..., 0], negative[1][..., 0] = 300.0, -300.0
    negative[1][..., 3, 0] = 300.0
    return [args(3, 2, 6, 8, [4, 6, 1]), args(3, 3, 5, 4, [3, 0, 5]), negative]


CASES = {
    "mla": _mla,
    "mla-decode": _mla_decode,
    "debug-gqa-rope": _rope_gqa,
    "debug-mla": _latent_rope,
    "debug-padding": _left_padding,
}

# The rotation's angles are float32 in the baselines.
LOOSE = {"debug-gqa-rope": 1e-4, "debug-mla": 1e-4}
GRADED = ["mla"]
