"""Where the wrong entries lie, along the named axes of an output: short and true sentences.

"every head" says that each head holds a wrong entry; "only rows 3 to 5" that no other row does.
Where the wrong entries do not fill the block that the axes span, "every" would promise too much,
and only the "only" statements are made.
"""

from __future__ import annotations

import torch
from torch import Tensor

ORDINALS = {2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth"}
NOUNS = {"batch": "batch element"}
EVERY_BATCH = "every batch element"
LISTED = 6


def locate(wrong: Tensor, axes: tuple[str, ...]) -> str:
    """The pattern of `wrong` (bool, one axis a name in `axes`), or "" where there is none.

    Where there are fewer axes than names, they are the last ones.
    """
    if wrong.dim() == 0 or not bool(wrong.any()):
        return ""
    if bool(wrong.all()):
        return "everywhere"
    if wrong.dim() > len(axes):
        return ""
    names = list(axes[-wrong.dim() :])  # a case may leave leading axes out
    diagonal = _diagonals(wrong, names)
    if diagonal:
        return diagonal
    if _is_block(wrong):
        return _phrases(wrong, names, every=True)
    for axis in range(wrong.dim() - 1):
        parts = _split(wrong, names, axis)
        if parts:
            return parts
    return _phrases(wrong, names, every=False)


def _noun(axis: str) -> str:
    return NOUNS.get(axis, axis)


def _plural(noun: str) -> str:
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeo" else noun + "s"


def _touched(wrong: Tensor, axis: int) -> list[int]:
    """The indices along `axis` that hold a wrong entry."""
    others = [n for n in range(wrong.dim()) if n != axis]
    flat = wrong.permute(axis, *others).reshape(wrong.shape[axis], -1)
    return [int(n) for n in flat.any(1).nonzero().flatten()]


def _is_block(wrong: Tensor) -> bool:
    """Whether the wrong entries fill the block of the indices they touch.

    An entry along the last axis may be right by chance: there a touched row counts as wholly wrong.
    """
    rows = wrong.any(-1) if wrong.dim() > 1 else wrong
    count = 1
    for axis in range(rows.dim()):
        count *= len(_touched(rows, axis))
    return count == int(rows.sum())


def _phrases(wrong: Tensor, names: list[str], every: bool) -> str:
    said, right = [], ""
    whole = []  # axes with a wrong entry at every index: news only beside a narrower one
    for axis, name in enumerate(names):
        size = wrong.shape[axis]
        at = _touched(wrong, axis)
        last = axis == wrong.dim() - 1
        if size == 1 or (len(at) == size and (not every or (last and wrong.dim() > 1))):
            continue
        said.append(phrase(_noun(name), at, size))
        whole.append(len(at) == size)
        if at[0] > 0 and at == list(range(at[0], size)) and len(at) > 1:
            right = _right(_noun(name), at[0])
    if all(whole):
        return ""
    kept = [text for n, text in enumerate(said) if not (whole[n] and text == EVERY_BATCH)]
    return ", ".join(kept) + (f"; {right}" if right else "")


def _right(noun: str, until: int) -> str:
    return f"{noun} 0 is right" if until == 1 else f"{_plural(noun)} 0 to {until - 1} are right"


def phrase(noun: str, at: list[int], size: int) -> str:
    """The sorted indices `at`, out of 0 .. size - 1, in words."""
    first, last = at[0], at[-1]
    many = _plural(noun)
    if len(at) == size:
        return f"every {noun}"
    if len(at) == 1:
        end = ", the last" if first == size - 1 else ", the first" if first == 0 else ""
        return f"only {noun} {first}{end}"
    if first == 0 and size > 2 and at == list(range(size - 1)):
        return f"every {noun} but {size - 1}, the last"
    if at == list(range(first, last + 1)):
        if last == size - 1:
            return f"every {noun} from {first} on"
        if len(at) == 2:
            return f"only {many} {first}, {last}"
        return f"only {many} {first} to {last}"
    if len(at) == size - 1:
        missing = next(n for n in range(size) if n not in at)
        return f"every {noun} but {missing}"
    step = at[1] - first
    regular = len(at) > 2 and at == list(range(first, size, step)) and first < step
    tail = f": every {ORDINALS[step]}" if regular and step in ORDINALS else ""
    if len(at) <= LISTED:
        return f"only {many} {', '.join(map(str, at))}{tail}"
    shown = ", ".join(map(str, at[:LISTED]))
    return f"only {many} {shown} and so on{tail}" if tail else f"in {len(at)} of {size} {many}"


def _split(wrong: Tensor, names: list[str], axis: int) -> str:
    """Slice by slice along one short axis, where each slice alone is a block."""
    size = wrong.shape[axis]
    if not 1 < size <= 3:
        return ""
    said = []
    rest = [name for n, name in enumerate(names) if n != axis]
    for n in range(size):
        part = wrong.select(axis, n)
        if not bool(part.any()):
            continue
        if not _is_block(part):
            return ""
        inner = "everywhere" if bool(part.all()) else _phrases(part, rest, every=True)
        if inner:
            narrow = inner.partition(";")[0]  # a second semicolon would part what is one
            said.append(f"{_noun(names[axis])} {n}: {narrow}")
    return "; ".join(said)


def _diagonals(wrong: Tensor, names: list[str]) -> str:
    """For a mask: whole diagonals, counted from the one that ends in the bottom right corner."""
    if names[-2:] not in (["row", "column"], ["query", "key"], ["row", "key"]) or wrong.dim() != 2:
        return ""
    t, s = wrong.shape
    offset = torch.arange(s) - torch.arange(t)[:, None] - (s - t)  # (T, S)
    present = sorted(set(offset.flatten().tolist()))
    touched = sorted(set(offset[wrong].tolist()))
    if t == 1 or s == 1 or not bool(wrong[torch.isin(offset, torch.tensor(touched))].all()):
        return ""
    if touched == [0]:
        return "only the diagonal that ends in the last corner"
    for sign, side in ((1, "right of"), (-1, "left of")):
        if touched == [n for n in present if n * sign > 0]:
            return f"every entry {side} the diagonal that ends in the last corner"
        if touched == [n for n in present if n * sign >= 0]:
            return f"every entry on or {side} the diagonal that ends in the last corner"
        if touched == [sign]:
            return f"only the entries one {side} the diagonal that ends in the last corner"
    return ""
