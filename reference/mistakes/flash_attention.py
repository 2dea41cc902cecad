"""The family of `flash-attention`, and the tiles of the kernel families.

The scores are made at once, T x S, and then read block by block: what goes wrong in tiles goes
wrong here too.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from reference.mistakes.core import Mistakes
from reference.mistakes.exponent import exp32
from reference.mistakes.readings import SENTINEL, WEAK, within

_BASE = {"e": 1.0, "two": math.log(2), "e-of-two": 1 / math.log(2)}
_PRECISION = {"float16": torch.float16, "bfloat16": torch.bfloat16}
_START = {"-inf": -torch.inf, "zero": 0.0, **SENTINEL}
_FILL = {"-inf": -torch.inf, "zero": 0.0, **WEAK}


def _visible(how: str, causal: bool, queries: int, keys: int, block: int, span: int) -> Tensor:
    """bool (T, span): which keys a query may attend to; `span` counts padded keys too."""
    row, key = torch.arange(queries)[:, None], torch.arange(span)  # (T, 1), (span,)
    place = row + keys - queries  # (T, 1), the query's position
    tile_end = torch.clamp((row // block + 1) * block, max=queries)  # (T, 1)
    causal = {"missing": False, "always": True, "when-fits": queries <= keys}.get(how, causal)
    if not causal:
        return (key >= 0).expand(queries, span)
    return {
        "right": lambda: key <= place,
        "always": lambda: key <= place,
        "when-fits": lambda: key <= place,
        "top-left": lambda: key <= row,
        "one-ahead": lambda: key <= place + 1,
        "hides-self": lambda: key < place,
        "reversed": lambda: key >= place,
        "inverted": lambda: key > place,
        "in-tile": lambda: key % block <= row % block,
        "column-in-block": lambda: key % block <= place,
        "in-tile-in-reach": lambda: (
            (key % block <= row % block) & (key // block * block < keys - queries + tile_end)
        ),
        "whole-tiles": lambda: key // block * block <= keys - queries + tile_end - 1,
        "same-tile-count": lambda: (key <= place) & (key < (row // block + 1) * block),
        "before-diagonal": lambda: key < keys - queries + row // block * block,
        "whole-before-diagonal": lambda: (
            (key // block + 1) * block <= keys - queries + row // block * block
        ),
        "whole-before-tile-end": lambda: (
            (key <= place) & ((key // block + 1) * block < keys - queries + tile_end)
        ),
        "fewer-tiles": lambda: key // block < row // block,
    }[how]()


def _reach(queries: int, keys: int, block: int) -> Tensor:
    """(T, 1): how many keys some query of the tile may see."""
    row = torch.arange(queries)[:, None]
    return torch.clamp((row // block + 1) * block, max=queries) + keys - queries


def _whole_blocks(tail: str, causal: bool, queries: int, keys: int, block: int) -> Tensor:
    """bool (T, S): keys in whole blocks of those that the query's tile may see."""
    key, reach = torch.arange(keys), _reach(queries, keys, block)  # (S,), (T, 1)
    end = (reach if causal else torch.full_like(reach, keys)) // block * block
    return key < (end.clamp(min=block) if tail == "in-reach-but-one" else end)


def _scale(how: str, heads: int, width: int) -> float:
    padded = 1 << (width - 1).bit_length()
    return {
        "right": 1 / math.sqrt(width),
        "none": 1.0,
        "width": 1 / width,
        "heads": 1 / math.sqrt(heads),
        "padded": 1 / math.sqrt(padded),
        "padded to 16": 1 / math.sqrt(max(padded, 16)),
        "padded to 32": 1 / math.sqrt(max(padded, 32)),
        "padded to 64": 1 / math.sqrt(max(padded, 64)),
    }[how]


def _maximum(how: str, m: Tensor, block: Tensor) -> Tensor:
    """The maximum (B, H, T, 1) after a block of scores (B, H, T, block)."""
    own = block.amax(dim=-1, keepdim=True)  # (B, H, T, 1)
    return {
        "running": lambda: torch.maximum(m, own),
        "none": lambda: torch.zeros_like(m),
        "last": lambda: own,
        "over-rows": lambda: torch.maximum(m, block.max()),
    }[how]()


def _one_zero(block: Tensor, empty: Tensor) -> Tensor:
    """Scores (B, H, T, block) whose wholly hidden rows show their first key, with a score of 0."""
    first = torch.arange(block.shape[-1]) == 0  # (block,)
    return block.masked_fill(empty & first, 0.0)


def _mixed(raised: Tensor, values: Tensor, total: Tensor, weights_in: str) -> Tensor:
    """Weights (B, H, T, block) times values (B, H, block, D), with the weights as they are: kept;
    or rounded to float16 or bfloat16. `product` in the name: the values too, and their product;
    `divided`: weights that were divided by their sum."""
    if weights_in == "kept":
        return raised @ values
    name, _, how = weights_in.partition(" ")
    narrow, wide = _PRECISION[name], raised.dtype
    if how == "product":
        return (raised.to(narrow) @ values.to(narrow)).to(wide)
    if how == "divided":
        return (raised / total).to(narrow).to(wide) @ values * total
    return raised.to(narrow).to(wide) @ values


def flash_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block_size: int,
    causal: bool = False,
    *,
    scale: str = "right",
    base: str = "e",
    mask: str = "right",
    fill: str = "-inf",
    tail: str = "kept",
    visited: str = "keys",
    order: str = "forwards",
    ahead: str = "visited",
    start: str = "-inf",
    maximum: str = "running",
    unseen: str = "guarded",
    weights: str = "at-new-max",
    rescale: str = "both",
    total: str = "running",
    divide: str = "end",
    blocks: str = "joined",
    rows: str = "all",
    roles: str = "right",
    weights_in: str = "kept",
    hidden: Tensor | None = None,
) -> Tensor:
    """Attention of q (B, H, T, D) over k, v (B, H, S, D) in blocks; as the reference.

    scale    right; none; width: 1/D; heads: 1/sqrt(H); or padded: with the next power of two,
             and at least 16, 32 or 64
    base     e; two, without the factor log2(e); or e-of-two, e with that factor
    mask     see `_visible`; fill: what a hidden score becomes
    tail     the last, partial block of keys: kept, zero-padded, or dropped; dropped-but-one: not
             where it is the only one; in-reach, in-reach-but-one: of the keys that some query of
             the tile may see
    visited  keys; or queries: blocks are counted by T
    order    forwards; backwards; or from-end: backwards, in blocks that are counted from the end
    ahead    blocks wholly in the future of a causal query's tile, or wholly hidden where nothing
             is causal: visited, or skipped
    start    the first maximum: -inf, zero, or sentinel; maximum: see `_maximum`
    unseen   while nothing was seen: guarded; nan, as -inf - -inf; or as-zero: a block of which
             nothing is seen counts as one key of score 0 and value 0
    weights  at-new-max; or own-max (the block's own, not corrected)
    rescale  both; total (not the output); output (not the total); neither; inverted
    total    running; or last: replaced by each block's
    divide   end; never; each-block; or guarded: rows without a total are zero
    blocks   joined; summed: each with a softmax of its own; averaged, over those of which something
             is seen; or averaged-all
    roles    right, or keys-as-values
    rows     all; or whole-tiles: rows past the last whole tile of queries stay zero
    weights_in  what the values are multiplied by them in: see `_mixed`
    hidden   bool, broadcasting to (B, H, T, S): keys that are hidden besides; no switch
    """
    queries, keys = q.shape[-2], k.shape[-2]
    if tail == "zero-padded":
        k, v = (pad(x, (0, 0, 0, -keys % block_size)) for x in (k, v))
    scaled = _scale(scale, q.shape[1], q.shape[-1]) * _BASE[base]
    scores = q @ k.transpose(-2, -1) * scaled  # (B, H, T, S)
    v = v if roles == "right" else k
    visible = _visible(mask, causal, queries, keys, block_size, k.shape[-2])  # (T, S)
    if tail.startswith("in-reach"):
        visible = visible & _whole_blocks(tail, causal, queries, keys, block_size)
    low = within(_FILL[fill], scores.dtype)
    scores = scores.masked_fill(~visible, low)
    if hidden is not None:
        scores = scores.masked_fill(hidden, low)

    end = queries if visited == "queries" else k.shape[-2]
    if tail == "dropped" or (tail == "dropped-but-one" and end > block_size):
        end -= end % block_size
    spans = [
        slice(begin, begin + block_size) for begin in range(0, min(end, k.shape[-2]), block_size)
    ]
    if order == "backwards":
        spans.reverse()
    if order == "from-end":
        spans = [slice(max(stop - block_size, 0), stop) for stop in range(end, 0, -block_size)]
    m = torch.full_like(q[..., :1], within(_START[start], q.dtype))  # (B, H, T, 1)
    l, out = torch.zeros_like(m), torch.zeros_like(q)  # noqa: E741  (B, H, T, 1), (B, H, T, D)
    met = torch.zeros_like(m)  # (B, H, T, 1), the blocks of which something was seen
    for span in spans:
        block = scores[..., span]  # (B, H, T, <= block)
        values = v[..., span, :]  # (B, H, <= block, D)
        own = block.amax(dim=-1, keepdim=True)  # (B, H, T, 1)
        empty = own == -torch.inf  # (B, H, T, 1)
        if unseen == "as-zero":
            block, own = _one_zero(block, empty), own.masked_fill(empty, 0.0)
        m_new = own if blocks != "joined" else _maximum(maximum, m, block)  # (B, H, T, 1)
        level = own if weights == "own-max" else m_new
        factor = exp32(m - m_new if rescale != "inverted" else m_new - m)  # (B, H, T, 1)
        if maximum == "none":
            factor = torch.ones_like(factor)
        factor = torch.where(l == 0, 0.0, factor) if rescale == "inverted" else factor
        raised = exp32(block - level)  # (B, H, T, <= block)
        if unseen == "guarded":
            raised = torch.where(level == -torch.inf, 0.0, raised)
            factor = torch.where(m_new == -torch.inf, 1.0, factor)
        own_total = raised.sum(dim=-1, keepdim=True)  # (B, H, T, 1)
        mixed = _mixed(raised, values, own_total, weights_in)  # (B, H, T, D)
        if unseen == "as-zero":
            mixed = mixed.masked_fill(empty, 0.0)
        if blocks != "joined":
            out = out + torch.where(own_total > 0, mixed / own_total, 0.0)
            met = met + (blocks == "averaged-all" or own_total > 0)
            continue
        l_new = l * (1.0 if rescale in ("output", "neither") else factor) + own_total
        if total == "last":
            l_new = own_total
        out_new = out * (1.0 if rescale in ("total", "neither") else factor) + mixed
        if divide == "each-block":
            out_new = out_new / l_new
        if ahead == "skipped":
            kept = span.start >= _reach(queries, keys, block_size) if causal else empty
            m_new, l_new, out_new = (
                torch.where(kept, old, new) for old, new in ((m, m_new), (l, l_new), (out, out_new))
            )
        m, l, out = m_new, l_new, out_new  # noqa: E741
    if divide in ("end", "guarded") and blocks == "joined":
        out = out / l
    if blocks.startswith("averaged"):
        out = out / met
    if divide == "guarded":
        out = torch.where(l == 0, 0.0, out)
    if rows == "whole-tiles":
        out[..., queries - queries % block_size :, :] = 0.0
    return out


MISTAKES: Mistakes = {
    "flash_attention": {
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-by-n-heads": {"scale": "heads"},
        "keys-as-values": {"roles": "keys-as-values"},
        "flash-exp2-without-log2e": {"base": "two"},
        "softmax-overflow": {"maximum": "none"},
        "weights-unnormalised": {"divide": "never"},
        "flash-output-not-rescaled": {"rescale": "total"},
        "flash-sum-not-rescaled": {"rescale": "output"},
        "flash-neither-rescaled": {"rescale": "neither"},
        "flash-rescale-inverted": {"rescale": "inverted"},
        "flash-divided-each-block": {"divide": "each-block"},
        "flash-blocks-summed": {"blocks": "summed"},
        "flash-sum-of-last-block": {"total": "last"},
        "online-block-not-corrected": {"weights": "own-max"},
        "flash-max-of-last-block": {"maximum": "last", "unseen": "nan"},
        "online-max-starts-at-zero": {"start": "zero"},
        "online-sentinel": {"start": "sentinel"},
        "flash-sentinel-zero": {"start": "sentinel", "divide": "guarded"},
        "online-max-over-rows": {"maximum": "over-rows"},
        "flash-hidden-block-nan": {"order": "backwards", "unseen": "nan"},
        "online-last-block-dropped": {"tail": "dropped"},
        "online-last-block-zero-padded": {"tail": "zero-padded"},
        "flash-last-queries-dropped": {"rows": "whole-tiles"},
        "flash-keys-counted-by-queries": {"visited": "queries"},
        "causal-missing": {"mask": "missing"},
        "causal-mask-top-left": {"mask": "top-left"},
        "flash-causal-always": {"mask": "always"},
        "flash-causal-when-it-fits": {"mask": "when-fits"},
        "flash-mask-by-block-index": {"mask": "in-tile"},
        "flash-mask-by-column-in-block": {"mask": "column-in-block"},
        "flash-diagonal-block-unmasked": {"mask": "whole-tiles"},
        "flash-loop-ends-at-query-tile": {"mask": "same-tile-count"},
        "causal-one-ahead": {"mask": "one-ahead"},
        "causal-hides-self": {"mask": "hides-self"},
        "causal-reversed": {"mask": "reversed"},
        "causal-inverted": {"mask": "inverted", "unseen": "nan"},
        "mask-fill-zero": {"fill": "zero"},
        "mask-fill-weak": {"fill": "weak"},
    }
}
