"""One output against what is expected: which entries are wrong, and the worst of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Difference:
    """How an output differs from the right one.

    wrong      bool, of the output's shape
    nan        NaN entries that should be numbers; `infinite` likewise for infinities
    index      the worst entry: the first NaN or infinity, else the largest error / allowed
    ratio      the largest error / allowed (inf for NaN, infinities and exact types)
    """

    name: str
    wrong: Tensor
    nan: int
    infinite: int
    index: tuple[int, ...]
    yours: float
    expected: float
    allowed: float
    ratio: float
    kind: str = "float"  # or "bool", "int": how the numbers are written

    @property
    def entries(self) -> int:
        return self.wrong.numel()

    @property
    def wrong_entries(self) -> int:
        return int(self.wrong.sum())


def ratios(yours: Tensor, expected: Tensor, allowed: Tensor) -> Tensor:
    """|error| / allowed entry by entry, float64; inf where the kind of number differs.

    Expected infinities, and expected NaN, must be met exactly. 0 / 0 is 0: exactly right.
    """
    if not expected.is_floating_point():
        same = yours.to(expected.dtype) == expected
        if yours.is_floating_point():
            same &= yours.isfinite() & (yours == yours.trunc())
        return torch.where(same, 0.0, math.inf).double()
    yours, expected = yours.double(), expected.double()
    error = (yours - expected).abs()
    ratio = torch.where(error > 0, error / allowed, 0.0)
    both_finite = yours.isfinite() & expected.isfinite()
    same_kind = (yours == expected) | (yours.isnan() & expected.isnan())
    return torch.where(both_finite, ratio, torch.where(same_kind, 0.0, math.inf))


def compare(name: str, yours: Tensor, expected: Tensor, allowed: Tensor) -> Difference | None:
    """None where every entry is right. The three tensors have one shape."""
    ratio = ratios(yours, expected, allowed)
    wrong = ratio > 1
    if not bool(wrong.any()):
        return None
    floating = yours.is_floating_point()
    nan = wrong & yours.isnan() if floating else torch.zeros_like(wrong)
    infinite = wrong & yours.isinf() if floating else torch.zeros_like(wrong)
    odd = nan if bool(nan.any()) else infinite
    flat = int(odd.flatten().int().argmax() if bool(odd.any()) else ratio.flatten().argmax())
    return Difference(
        name=name,
        wrong=wrong,
        nan=int(nan.sum()),
        infinite=int(infinite.sum()),
        index=unravel(flat, tuple(yours.shape)),
        yours=float(yours.flatten()[flat]),
        expected=float(expected.flatten()[flat]),
        allowed=float(allowed.flatten()[flat]),
        ratio=float(ratio.max()),
        kind=_kind(expected),
    )


def unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of the entry at a row-major position."""
    index: list[int] = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        index.append(at)
    return tuple(reversed(index))


def entry(name: str, index: tuple[int, ...]) -> str:
    """`out[1, 6, 40]`; a number without axes is just its name."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def pair(difference: Difference) -> tuple[str, str]:
    """Both numbers of the worst entry, with as few digits as tell them apart, at least four."""
    yours, expected = difference.yours, difference.expected
    if difference.kind == "bool":
        return str(bool(yours)), str(bool(expected))
    for digits in range(4, 18):
        a, b = f"{yours:.{digits}g}", f"{expected:.{digits}g}"
        if a != b:
            return a, b
    return repr(yours), repr(expected)


def _kind(value: Tensor) -> str:
    if value.dtype == torch.bool:
        return "bool"
    return "float" if value.is_floating_point() else "int"
