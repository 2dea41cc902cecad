"""The family of `rope`."""

from __future__ import annotations

import torch
from torch import Tensor

from reference.mistakes.core import Mistakes


def _exponent(how: str, pair: Tensor, width: int) -> Tensor:
    """The power of the base for each pair, (D/2,)."""
    return {
        "right": lambda: -2 * pair / width,
        "halved": lambda: -pair / width,
        "doubled": lambda: -4 * pair / width,
        "from-one": lambda: -2 * (pair + 1) / width,
        "linspace": lambda: -pair / max(width // 2 - 1, 1),
        "positive": lambda: 2 * pair / width,
        "zero": lambda: 0 * pair,
    }[how]()


def _angles(
    x: Tensor, positions: Tensor, base: float, exponent: str, place: str, precision: str
) -> Tensor:
    """(T, D/2) radians, float64 where x is, else float32."""
    exact = torch.float64 if x.dtype == torch.float64 else torch.float32
    pair = torch.arange(x.shape[-1] // 2, device=x.device, dtype=exact)  # (D/2,)
    frequency = base ** _exponent(exponent, pair, x.shape[-1])  # (D/2,)
    where = {
        "given": lambda: positions,
        "index": lambda: torch.arange(len(positions), device=x.device),
        "from-first": lambda: positions - positions[0],
        "plus-one": lambda: positions + 1,
        "sorted": lambda: positions.sort().values,
        "from-least": lambda: positions - positions.min(),
    }[place]()  # (T,)
    time = where.to(exact)[:, None]  # (T, 1)
    if precision.startswith("positions"):
        time = time.to(x.dtype if precision == "positions-input" else torch.bfloat16).to(exact)
    elif precision not in ("exact", "tables-bfloat16"):
        narrow = torch.bfloat16 if precision.startswith("bfloat16") else x.dtype
        if precision.endswith("rounded"):
            return (time * frequency).to(narrow).to(exact)  # (T, D/2)
        return (time.to(narrow) * frequency.to(narrow)).to(exact)  # (T, D/2)
    return time * frequency  # (T, D/2)


def _turned(
    a: Tensor, b: Tensor, angle_a: Tensor, angle_b: Tensor, turn: str, table: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The pair (a, b) after its rotation; right code has one angle for both its lines.

    table  the dtype in which sines and cosines are kept
    """
    cos_a, sin_a = angle_a.cos().to(table).to(a.dtype), angle_a.sin().to(table).to(a.dtype)
    cos_b, sin_b = angle_b.cos().to(table).to(a.dtype), angle_b.sin().to(table).to(a.dtype)
    if turn == "clockwise":
        return a * cos_a + b * sin_a, b * cos_b - a * sin_b
    if turn == "sign-lost":
        return a * cos_a + b * sin_a, b * cos_b + a * sin_b
    if turn == "cos-sin-swapped":
        return a * sin_a - b * cos_a, a * cos_b + b * sin_b
    first, second = a * cos_a - b * sin_a, a * sin_b + b * cos_b
    if turn == "second-kept":
        return first, b
    if turn == "overwritten":
        return first, first * sin_b + b * cos_b
    if turn == "twice":
        return first * cos_a - second * sin_a, first * sin_b + second * cos_b
    return first, second


def apply_rope(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    pairing: str = "half-split",
    turn: str = "counter-clockwise",
    exponent: str = "right",
    base_used: str = "given",
    place: str = "given",
    precision: str = "exact",
) -> Tensor:
    """Rotary embedding of x (B, H, T, D); as the reference.

    pairing    half-split; mixed: halves rotated by an interleaved angle table; interleaved;
               table-halves: neighbours rotated by a table laid out for halves; to-halves:
               neighbours rotated right and written as halves; to-neighbours: the reverse
    turn       counter-clockwise, clockwise, sign-lost, cos-sin-swapped, twice, second-kept (b is
               not rotated), overwritten (b is rotated with the a just written)
    exponent   of the base: right, halved, doubled, from-one, linspace, positive, zero
    base_used  given, or default: 10000 whatever is given
    place      the positions given, index (0, 1, ...), from-first (less the first), from-least
               (less the least), sorted, plus-one
    precision  of the angles: exact, bfloat16, input (x's dtype), positions-input,
               positions-bfloat16; or
               bfloat16-rounded, input-rounded: a precise product, rounded afterwards; or
               tables-bfloat16: precise angles, whose sines and cosines are kept in bfloat16
    """
    base = base if base_used == "given" else 10000.0
    angles = _angles(x, positions, base, exponent, place, precision)  # (T, D/2)
    angle_a, angle_b = angles, angles
    if pairing == "mixed":
        angle_a, angle_b = angles.repeat_interleave(2, dim=-1).chunk(2, dim=-1)  # (T, D/2)
    if pairing == "table-halves":
        table = angles.repeat(1, 2)  # (T, D)
        angle_a, angle_b = table[:, 0::2], table[:, 1::2]  # (T, D/2)
    if pairing in ("half-split", "mixed", "to-neighbours"):
        a, b = x.chunk(2, dim=-1)  # (B, H, T, D/2)
    else:
        a, b = x[..., 0::2], x[..., 1::2]  # (B, H, T, D/2)
    kept = torch.bfloat16 if precision == "tables-bfloat16" else x.dtype
    first, second = _turned(a, b, angle_a, angle_b, turn, kept)
    if pairing in ("interleaved", "table-halves", "to-neighbours"):
        return torch.stack([first, second], dim=-1).flatten(start_dim=-2)  # (B, H, T, D)
    return torch.cat([first, second], dim=-1)  # (B, H, T, D)


MISTAKES: Mistakes = {
    "apply_rope": {
        "rope-interleaved": {"pairing": "interleaved"},
        "rope-mixed": {"pairing": "mixed"},
        "rope-neighbours-to-halves": {"pairing": "to-halves"},
        "rope-halves-to-neighbours": {"pairing": "to-neighbours"},
        "rope-clockwise": {"turn": "clockwise"},
        "rope-sign-lost": {"turn": "sign-lost"},
        "rope-cos-sin-swapped": {"turn": "cos-sin-swapped"},
        "rope-twice": {"turn": "twice"},
        "rope-second-half-kept": {"turn": "second-kept"},
        "rope-half-overwritten": {"turn": "overwritten"},
        "rope-exponent-halved": {"exponent": "halved"},
        "rope-exponent-doubled": {"exponent": "doubled"},
        "rope-exponent-from-one": {"exponent": "from-one"},
        "rope-exponent-linspace": {"exponent": "linspace"},
        "rope-exponent-sign": {"exponent": "positive"},
        "rope-one-frequency": {"exponent": "zero"},
        "rope-base-ignored": {"base_used": "default"},
        "rope-positions-ignored": {"place": "index"},
        "rope-positions-from-zero": {"place": "from-first"},
        "rope-positions-from-least": {"place": "from-least"},
        "rope-positions-sorted": {"place": "sorted"},
        "rope-position-plus-one": {"place": "plus-one"},
        "rope-angles-bfloat16": {"precision": "bfloat16"},
        "rope-angles-input-dtype": {"precision": "input"},
        "rope-angles-rounded-bfloat16": {"precision": "bfloat16-rounded"},
        "rope-angles-rounded-input-dtype": {"precision": "input-rounded"},
        "rope-positions-input-dtype": {"precision": "positions-input"},
        "rope-positions-bfloat16": {"precision": "positions-bfloat16"},
        "rope-tables-bfloat16": {"precision": "tables-bfloat16"},
    }
}
