"""Inputs for the drills that decode, on which every known mistake of their families shows."""

from __future__ import annotations

import torch
from drawing import Args, drawing

# The drill's reference, its family, and the name of its cases below.
DRILLS = {
    "cached-attention": (
        "cached_attention.cached_attention",
        "cached_attention.cached_attention",
    ),
    "cached-gqa": ("cached_gqa.cached_gqa", "cached_gqa.cached_gqa"),
    "paged-decode": ("paged.paged_decode", "paged.paged_decode"),
    "cached-generate": ("generation.generate", "generation.generate"),
    "debug-cached-decoder": ("cached_decoder.decode_in_chunks", "cached_decoder.decode_in_chunks"),
    "debug-gpt": ("gpt.gpt", "gpt.gpt"),
}

BASELINES = {
    "cached-attention": ("generation", "einsum", "per_head", "tiled", "one_by_one"),
    "cached-gqa": ("generation", "einsum", "per_head", "tiled", "finite_fill", "one_by_one"),
    "paged-decode": ("generation", "per_sequence", "online", "flat_slots", "whole_pool"),
    "cached-generate": ("generation", "full_pass", "token_by_token", "unrotated_cache"),
    "debug-cached-decoder": ("decoders", "in_chunks", "one_by_one", "in_one_pass"),
    "debug-gpt": ("decoders", "einsum", "per_head", "tiled"),
}


def _cached(dtype: torch.dtype) -> list[Args]:
    draw = drawing(31, dtype)

    def args(b: int, t: int, s: int, d: int, h: int, kv: int, width: int) -> Args:
        w_q, w_o = draw(h * width, d, std=d**-0.5), draw(d, h * width, std=(h * width) ** -0.5)
        w_k, w_v = draw(kv * width, d, std=d**-0.5), draw(kv * width, d, std=d**-0.5)
        caches = draw(b, kv, s, width), draw(b, kv, s, width)
        return draw(b, t, d, std=1.5), w_q, w_k, w_v, w_o, h, kv, *caches

    return [
        args(2, 3, 4, 20, 6, 3, 8),
        args(1, 1, 6, 12, 4, 2, 4),
        (*args(2, 5, 0, 12, 4, 2, 6), 300.0),
        args(1, 2, 300, 8, 2, 1, 4),
        _low(args(1, 3, 2, 6, 2, 1, 4)),
    ]


def _unrotated(dtype: torch.dtype) -> list[Args]:
    draw = drawing(35, dtype)

    def args(
        b: int, t: int, s: int, d: int, h: int, kv: int, width: int, gain: float = 1.5
    ) -> Args:
        w_q, w_k, w_v = (draw(n * width, d, std=gain * d**-0.5) for n in (h, kv, kv))
        w_o = draw(d, h * width, std=(h * width) ** -0.5)
        caches = draw(b, kv, s, width, std=gain), draw(b, kv, s, width)
        return draw(b, t, d), w_q, w_k, w_v, w_o, h, kv, *caches

    low = _low(args(1, 3, 2, 6, 2, 1, 4))
    low[0][:, -1, 0] *= -1  # a hidden key that leads by more than 10,000
    return [
        args(2, 3, 4, 10, 4, 2, 3),
        args(2, 5, 0, 12, 6, 3, 5),
        args(1, 1, 6, 8, 4, 2, 5),
        args(2, 4, 2, 12, 6, 2, 7, 8.0),
        low,
    ]


def _low(args: Args) -> Args:
    """Scores far below -10,000 in all rows: feature 1 of the heads outweighs the others, and turns
    slowly."""
    x, w_q, w_k, w_v, w_o, h, kv, k_cache, v_cache = (
        a.clone() if isinstance(a, torch.Tensor) else a for a in args
    )
    x[:, :, 0] = torch.tensor([9.0, 10.0, 8.0], dtype=x.dtype)
    w_q[1::4, 0], w_k[1::4, 0], w_v[:, 0] = 30.0, -30.0, 0.0
    k_cache[..., 1] = torch.tensor([-280.0, -320.0], dtype=x.dtype)
    return x, w_q, w_k, w_v, w_o, h, kv, k_cache, v_cache


def _paged(dtype: torch.dtype) -> list[Args]:
    draw = drawing(32, dtype)

    def args(
        h: int, kv: int, width: int, page: int, table: list[list[int]], lengths: list[int],
        std: float = 1.5,
    ) -> Args:  # fmt: skip
        pools = draw(9, page, kv, width, std=std), draw(9, page, kv, width)
        q = draw(len(lengths), h, 1, width, std=std)
        return q, *pools, torch.tensor(table), torch.tensor(lengths)

    q, k_pages, *rest = args(4, 2, 4, 2, [[3, 6], [1, -1]], [3, 2])
    low = q.abs() * 300, k_pages.abs() * -300  # all scores far below -10,000
    return [
        args(6, 3, 4, 3, [[0, 3, -1], [5, -1, -1], [4, 7, 2]], [6, 1, 8]),
        args(4, 2, 6, 4, [[6, 1], [3, -1]], [6, 4]),
        args(4, 2, 8, 2, [[2, 5, 8, 1], [7, 4, -1, -1]], [7, 3], 40.0),
        (*low, *rest),
    ]


def _generate(dtype: torch.dtype) -> list[Args]:
    """In bfloat16 one case, whose leads are wide: an argmax there tells rounding otherwise."""

    def args(seed: int, t: int, new: int, d: int, h: int, kv: int, width: int) -> Args:
        draw = drawing(seed, dtype)
        w_q, w_k = draw(h * width, d, std=2 * d**-0.5), draw(kv * width, d, std=d**-0.5)
        w_v, w_o = draw(kv * width, d, std=2 * d**-0.5), draw(d, h * width, std=(h * width) ** -0.5)
        tokens = torch.randint(24, (t,), generator=torch.Generator().manual_seed(seed))
        return tokens, new, draw(24, d), w_q, w_k, w_v, 3 * w_o, h, kv

    if dtype == torch.bfloat16:
        return [args(7, 4, 4, 8, 4, 2, 4)]
    return [args(1, 5, 12, 10, 4, 2, 6), args(2, 8, 12, 8, 6, 3, 4), args(3, 3, 16, 12, 4, 2, 4)]


def _decoder(dtype: torch.dtype) -> list[Args]:
    draw = drawing(33, dtype)

    def args(b: int, t: int, d: int, h: int, kv: int, width: int, prefill: int, chunk: int) -> Args:
        w_q, w_k, w_v = (
            draw(2, n * width, d, std=gain * d**-0.5)
            for n, gain in ((h, 1.5), (kv, 1.0), (kv, 1.0))
        )
        w_o = draw(2, d, h * width, std=(h * width) ** -0.5)
        return draw(b, t, d, std=1.5), w_q, w_k, w_v, w_o, h, kv, prefill, chunk

    return [
        args(2, 6, 12, 4, 2, 4, 4, 1),
        args(1, 8, 8, 6, 3, 4, 3, 2),
        args(1, 24, 8, 4, 2, 8, 20, 2),
    ]


def _gpt(dtype: torch.dtype) -> list[Args]:
    draw = drawing(34, dtype)

    def args(b: int, t: int, v: int, d: int, h: int, inner: int, layers: int = 2) -> Args:
        tokens = torch.randint(v, (b, t), generator=torch.Generator().manual_seed(t))
        weights = [
            draw(layers, rows, columns, std=1.5 * columns**-0.5)
            for rows, columns in ((3 * d, d), (d, d), (inner, d), (d, inner))
        ]
        gains = [1 + 0.3 * draw(*shape) for shape in ((layers, d), (layers, d), (d,))]
        return tokens, draw(v, d), draw(t + 2, d), *weights, *gains, h

    return [args(2, 5, 11, 12, 3, 20), args(1, 7, 9, 8, 4, 16), args(1, 5, 9, 8, 2, 12, layers=1)]


CASES = {
    "cached-attention": _cached,
    "cached-gqa": _unrotated,
    "paged-decode": _paged,
    "cached-generate": _generate,
    "debug-cached-decoder": _decoder,
    "debug-gpt": _gpt,
}

# The rotation's angles are float32 in the baselines.
LOOSE = {"cached-attention": 1e-4, "debug-cached-decoder": 1e-4}
GRADED: list[str] = []
