"""Softmax over the rows of a matrix, fused: each entry is written once, and read once or twice.

Four separate operations (maximum, subtraction and exponential, sum, division) read or write the
matrix seven times; the time is that of the memory traffic, so fusing them is the whole gain.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), algorithm 3 for
rows that do not fit one block; the shift by the maximum as in `reference.softmax`.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from reference.kernels.triton_shared import LOG2E, check_device, check_dtype

ONE_BLOCK = 16384
"""Columns that the registers of one program hold: rows up to here are read once."""

LONG_BLOCK = 8192
"""The block in which longer rows are read, twice."""

TILE = 4096
"""Entries of a program whose rows are short: it takes several."""


def fused_softmax(x: Tensor) -> Tensor:
    """exp(x) / sum(exp(x)) over the columns, in one kernel.

    x (rows, cols), float16, bfloat16, float32 or float64 (computed in float32), any strides, any
    number of columns; entries may be -inf, and a row of nothing else gives zeros. Returns
    (rows, cols), contiguous, in x's dtype. ValueError for another rank or dtype, and for a CPU
    tensor unless Triton's interpreter is on.
    """
    if x.dim() != 2:
        raise ValueError(f"x has {x.dim()} dimensions; flatten it to (rows, cols)")
    check_dtype(x)
    check_device(x)
    rows, cols = x.shape
    out = torch.empty(rows, cols, dtype=x.dtype, device=x.device)  # (rows, cols)
    if out.numel() == 0:
        return out
    block = triton.next_power_of_2(cols)
    with torch.cuda.device_of(x):
        if block > ONE_BLOCK:
            _softmax_of_long_rows[(rows,)](
                out, x, *x.stride(), cols, SCALE=LOG2E, BLOCK=LONG_BLOCK, num_warps=8
            )
        else:
            together = max(1, TILE // block)
            _softmax_of_rows[(triton.cdiv(rows, together),)](
                out, x, *x.stride(), rows, cols,
                SCALE=LOG2E, ROWS=together, BLOCK=block, num_warps=4 if block <= TILE else 16,
            )  # fmt: skip
    return out


@triton.jit
def _softmax_of_rows(
    out,
    x,
    stride_row,
    stride_col,
    rows,
    cols,
    SCALE: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """ROWS rows a program, each wholly in registers: read once, written once."""
    # 64 bits: row x stride passes 2^31 in matrices of more than 2^31 entries.
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.arange(0, BLOCK)[None, :]  # (1, BLOCK)
    inside = (row < rows) & (col < cols)  # (ROWS, BLOCK)
    # -inf beyond the row's end: no maximum, and exp2 gives 0.
    logits = tl.load(x + row * stride_row + col * stride_col, inside, -float("inf"))
    logits = logits.to(tl.float32)  # (ROWS, BLOCK)
    top = tl.max(logits, 1)[:, None]  # (ROWS, 1)
    # -inf - -inf is NaN: a row of nothing but -inf is shifted by 0, and its sum of 0 divided by 1.
    shift = tl.where(top == -float("inf"), 0.0, top)  # (ROWS, 1)
    # Shifted before it is scaled: the product of a large logit would be rounded by more than 1 ulp
    # of the difference.
    weights = tl.exp2((logits - shift) * SCALE)  # (ROWS, BLOCK)
    total = tl.sum(weights, 1)[:, None]  # (ROWS, 1)
    weights = weights / tl.where(total == 0.0, 1.0, total)
    tl.store(out + row * cols + col, weights.to(out.dtype.element_ty), inside)


@triton.jit
def _softmax_of_long_rows(
    out, x, stride_row, stride_col, cols, SCALE: tl.constexpr, BLOCK: tl.constexpr
):
    """One row a program: one pass for the maximum and the normaliser, one to write."""
    row = tl.program_id(0).to(tl.int64)
    x += row * stride_row
    out += row * cols
    col = tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK,), 64 bits: a stride may be large
    # A running maximum and normaliser for each lane of the block, so that the lanes need to be
    # brought together once, after the loop, and not in every step.
    top = tl.full([BLOCK], -float("inf"), tl.float32)  # (BLOCK,)
    total = tl.zeros([BLOCK], tl.float32)  # (BLOCK,)
    for start in range(0, cols, BLOCK):
        at = start + col
        logits = tl.load(x + at * stride_col, at < cols, -float("inf"))
        logits = logits.to(tl.float32)  # (BLOCK,)
        top_new = tl.maximum(top, logits)  # (BLOCK,)
        shift = tl.where(top_new == -float("inf"), 0.0, top_new)
        # What was summed so far was measured against the old maximum.
        total = total * tl.exp2((top - shift) * SCALE) + tl.exp2((logits - shift) * SCALE)
        top = top_new
    highest = tl.max(top, 0)
    shift = tl.where(highest == -float("inf"), 0.0, highest)
    normaliser = tl.sum(total * tl.exp2((top - shift) * SCALE), 0)
    normaliser = tl.where(normaliser == 0.0, 1.0, normaliser)
    for start in range(0, cols, BLOCK):
        at = start + col
        logits = tl.load(x + at * stride_col, at < cols, -float("inf"))
        weights = tl.exp2((logits.to(tl.float32) - shift) * SCALE) / normaliser  # (BLOCK,)
        tl.store(out + at, weights.to(out.dtype.element_ty), at < cols)
