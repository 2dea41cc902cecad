"""Other readings of a mistake: written so, it gives other numbers and is the same mistake.

A mask fill of -10,000 is too weak, and so is one of -50,000, but they differ where a score lies
between the two. A softmax over the queries meets columns that are hidden throughout, which give NaN
in one code and zeros in another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch

_LOW = (-1e2, -1e3, -2e4, -5e4, -65504.0, -8e4)
_SMALL = (1e-1, 1e-3, 1e-4, 1e-5)

LOW: dict[str, float] = {"": -1e4, **{f" {n:g}": n for n in _LOW}}
"""What is added to the switch's value -> the number: of a weak fill, of a running maximum's
start. -65504 is the lowest of float16."""

SMALL: dict[str, float] = {"": 1e-2, **{f" {n:g}": n for n in _SMALL}}
"""As `LOW`, of an epsilon that is not small enough."""

WEAK = {f"weak{suffix}": number for suffix, number in LOW.items()}
SENTINEL = {f"sentinel{suffix}": number for suffix, number in LOW.items()}
EPSILON = {f"epsilon{suffix}": number for suffix, number in SMALL.items()}

_SAME: dict[tuple[str, str], tuple[object, ...]] = {
    ("masking", "weak"): tuple(WEAK),
    ("masking", "weak-added"): tuple(f"weak-added{suffix}" for suffix in LOW),
    ("fill", "weak"): tuple(WEAK),
    ("start", "sentinel"): tuple(SENTINEL),
    ("normaliser", "epsilon"): tuple(EPSILON),
    ("sees", "earlier"): ("earlier-throughout",),
    ("d_q_sum", "own 1"): ("own 2", "own 4", "own 16", "last 1", "last 2", "last 4", "last 16"),
    ("d_k_sum", "last 1"): ("last 2", "last 4", "last 16"),
    ("d_v_sum", "last 1"): ("last 2", "last 4", "last 16"),
    ("mask", "in-tile"): ("in-tile-in-reach",),
    ("mask", "before-diagonal"): (
        "whole-before-diagonal",
        "whole-before-tile-end",
        "fewer-tiles",
    ),
    ("scale", "padded"): ("padded to 16", "padded to 32", "padded to 64"),
    ("order", "backwards"): ("from-end",),
    ("weights_in", "bfloat16"): (
        "float16",
        "bfloat16 product",
        "float16 product",
        "bfloat16 divided",
        "float16 divided",
    ),
    ("read", "slots-first"): ("slots-first-of-used",),
    ("heads", "reshape"): ("reshape-of-used", "reshape-page"),
    ("parts", "4"): (2, 8),
    ("tail", "dropped"): ("dropped-but-one", "in-reach", "in-reach-but-one"),
}

_ZERO = {"unseen": "guarded", "divide": "guarded"}
_EMPTY = ({"empty": "nan"}, {"empty": "mean"})

_HIDDEN: dict[tuple[str, str], tuple[dict[str, str], ...]] = {
    ("softmax", "queries"): _EMPTY,
    ("softmax", "heads"): _EMPTY,
    ("softmax", "kv-heads"): _EMPTY,
    ("softmax", "group"): _EMPTY,
    ("softmax", "batch"): _EMPTY,
    ("mask", "reversed"): ({"unseen": "nan"},),
    ("mask", "hides-self"): ({"unseen": "nan"},),
    ("mask", "inverted"): ({"unseen": "guarded"},),
    ("maximum", "last"): ({"unseen": "guarded"},),
    ("mask", "before-diagonal"): (_ZERO,),
    ("used", "whole-splits"): (_ZERO,),
    ("used", "inverted"): (_ZERO,),
    ("used", "one-short"): (_ZERO,),
}
"""What such code may make of what is hidden throughout."""


def same(switches: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The switches of each other reading of the mistake that `switches` make."""
    for switch, value in switches.items():
        for other in _SAME.get((switch, str(value)), ()):
            if other != value:
                yield {**switches, switch: other}
        for outcome in _HIDDEN.get((switch, str(value)), ()):
            if len(switches) == 1 or outcome.keys() & switches.keys():
                yield {**switches, **outcome}
    if switches.get("empty") == "nan" and len(switches) > 1:  # NaN, made zero afterwards
        yield {switch: value for switch, value in switches.items() if switch != "empty"}


def within(number: float, dtype: torch.dtype) -> float:
    """`number`, or the least that `dtype` holds: below that is no score to tell the two apart."""
    return number if number == -math.inf else max(number, torch.finfo(dtype).min)
