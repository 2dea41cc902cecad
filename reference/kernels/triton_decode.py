"""One decoding step over a key/value cache by split-KV, in two Triton kernels.

One query a sequence is B x H rows of work: too few programs for a GPU, and each would read a whole
cache by itself. So the keys of a sequence are split, a program attends to one part of them for all
the query heads of a group (keys and values are read once a group), and a second kernel merges the
parts by their log-sum-exps.

Source: Dao et al., "Flash-Decoding for long-context inference" (2023); the merge as in
`reference.merge_attention`; GQA by Ainslie et al. (2023).
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from reference.kernels.triton_shared import (
    DTYPES,
    LOG2E,
    check_decode,
    check_device,
    check_dtype,
    check_heads,
    padded,
)

BLOCK_N = 64
"""Keys of a step in half precision: what one program reads at a time."""

MOST_SPLITS = 128
"""Parts a sequence is split into at most: what the merging program holds at once."""

MOST_ROWS = {2: 64, 4: 16, 8: 16}
"""Query heads of a program, by the bytes of an element: what its registers hold. A larger group
takes several programs, which meet in the L2 cache."""


def fused_decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """Attention of one query a sequence to the first `lengths` slots of its cache.

    q (B, H, 1, D), caches (B, H_kv, S, D), D up to 256, any strides; H_kv divides H, and query head
    h reads key/value head h // (H // H_kv). float16, bfloat16, float32, or float64 (computed in
    float32). lengths (B,) int64, each 1 to S: a value outside is not looked for, since reading it
    would stop the GPU; slots beyond it are never read. Returns (B, H, 1, D), contiguous, in q's
    dtype. ValueError for shapes, dtypes or devices other than these.
    """
    check_decode(q, lengths)
    if k_cache.dim() != 4 or k_cache.shape != v_cache.shape or (
        (k_cache.shape[0], k_cache.shape[3]) != (q.shape[0], q.shape[3])
    ):  # fmt: skip
        shapes = ", ".join(str(tuple(x.shape)) for x in (q, k_cache, v_cache))
        raise ValueError(f"got {shapes}; give q (B, H, 1, D) and caches (B, H_kv, S, D)")
    check_dtype(q, k_cache, v_cache)
    check_heads(q, k_cache.shape[1])
    check_device(q, k_cache, v_cache, lengths)
    parts = Parts(q, k_cache.shape[1], k_cache.shape[2])
    if q.numel():
        with torch.cuda.device_of(q):
            _attend_parts[parts.grid](
                parts.o, parts.lse, q, k_cache, v_cache, lengths,
                q.stride(0), q.stride(1), q.stride(3), *k_cache.stride(), *v_cache.stride(),
                k_cache.shape[1], parts.group, **parts.sizes,
            )  # fmt: skip
    return parts.merged(lengths)


class Parts:
    """Where the parts of a decoding step go, how many there are, and their merging."""

    def __init__(self, q: Tensor, n_kv_heads: int, capacity: int) -> None:
        """For q (B, H, 1, D) over caches of `capacity` slots a sequence."""
        batch, n_heads, _, width = q.shape
        self.q = q
        self.group = n_heads // n_kv_heads
        half, block_d = q.element_size() == 2, padded(width)
        rows = min(padded(self.group), MOST_ROWS[q.element_size()])
        row_blocks = triton.cdiv(self.group, rows)
        self.n_splits = splits(batch * n_kv_heads * row_blocks, capacity, q.device)
        # The parts of a head are neighbours in the grid, and lie side by side.
        self.grid = (self.n_splits, n_kv_heads * row_blocks, batch)
        # Float32 whatever q is: a part is rounded to q's dtype only once it has been merged.
        self.o = torch.empty(batch, n_heads, self.n_splits, width, device=q.device)
        self.lse = torch.empty(batch, n_heads, self.n_splits, device=q.device)
        self.sizes = {
            "SCALE": LOG2E / math.sqrt(width),
            "DTYPE": DTYPES[q.dtype],
            "D": width,
            "BLOCK_D": block_d,
            "ROWS": rows,
            # Float32 is multiplied from registers, without tensor cores: fewer keys at a time.
            "BLOCK_N": BLOCK_N if half else 32 if block_d <= 128 else 16,
            "num_warps": 4 if half and rows * block_d <= 8192 else 8,
            # Nothing but the loads takes time: several steps' worth are on their way at once.
            "num_stages": 3 if block_d <= 128 else 2,
        }

    def merged(self, lengths: Tensor) -> Tensor:
        """The parts merged, (B, H, 1, D) in q's dtype."""
        batch, n_heads, _, width = self.q.shape
        out = torch.empty(self.q.shape, dtype=self.q.dtype, device=self.q.device)  # (B, H, 1, D)
        if out.numel() == 0:
            return out
        many = triton.next_power_of_2(self.n_splits)
        with torch.cuda.device_of(self.q):
            _merge_parts[(n_heads, batch)](
                out, self.o, self.lse, lengths, self.n_splits,
                D=width, BLOCK_D=padded(width), SPLITS=many, BLOCK_N=self.sizes["BLOCK_N"],
                num_warps=4 if many * padded(width) <= 8192 else 8,
            )  # fmt: skip
        return out


def splits(programs: int, capacity: int, device: torch.device) -> int:
    """Into how many parts to split caches of `capacity` slots where one part makes `programs`.

    Enough to give each multiprocessor four programs, twice what it holds, so that sequences of
    unlike lengths even out; and none of less than two steps. The lengths are on the GPU, and
    reading them here would stop it: the capacity stands in for them.
    """
    if device.type == "cuda":
        processors = torch.cuda.get_device_properties(device).multi_processor_count
    else:
        processors = 2  # the interpreter has one; enough to make several parts
    wanted = -(-4 * processors // max(programs, 1))
    return max(1, min(wanted, -(-capacity // (2 * BLOCK_N)), MOST_SPLITS))


@triton.jit
def part_of(split, n_splits, length, BLOCK_N: tl.constexpr):
    """The keys [start, stop) of a part: whole steps, but for the last; none where start >= stop.

    By the sequence's own length, so that a short one among long ones is split as evenly.
    """
    size = tl.cdiv(tl.cdiv(length, n_splits), BLOCK_N) * BLOCK_N
    start = split * size
    return start, tl.minimum(start + size, length)


@triton.jit
def step(q_rows, k_tile, v_tile, inside, top, total, acc, SCALE: tl.constexpr, DTYPE: tl.constexpr):
    """One tile of keys taken into the running maximum, sum and output of a group's heads.

    q_rows (ROWS, BLOCK_D), k_tile (BLOCK_D, BLOCK_N), v_tile (BLOCK_N, BLOCK_D), inside (BLOCK_N,);
    at least one key is inside.
    """
    # "ieee": float32 in full; by default it would be rounded to TF32, 10 bits of mantissa.
    scores = tl.dot(q_rows, k_tile.to(DTYPE), input_precision="ieee")  # (ROWS, BLOCK_N)
    scores = tl.where(inside[None, :], scores, -float("inf"))
    top_new = tl.maximum(top, tl.max(scores, 1) * SCALE)  # (ROWS,)
    weights = tl.exp2(tl.fma(scores, SCALE, -top_new[:, None]))  # (ROWS, BLOCK_N)
    # What was summed so far was measured against the old maximum.
    factor = tl.exp2(top - top_new)  # (ROWS,)
    total = total * factor + tl.sum(weights, 1)
    acc = acc * factor[:, None]
    acc = tl.dot(weights.to(DTYPE), v_tile.to(DTYPE), acc, input_precision="ieee")
    return top_new, total, acc


@triton.jit(do_not_specialize=["n_kv_heads", "group"])
def _attend_parts(
    o,
    lse,
    q,
    k,
    v,
    lengths,
    stride_qb,
    stride_qh,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_ks,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vs,
    stride_vd,
    n_kv_heads,
    group,
    SCALE: tl.constexpr,
    DTYPE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One part of the keys of one sequence, for up to ROWS query heads of one group."""
    split, n_splits = tl.program_id(0), tl.num_programs(0)
    batch = tl.program_id(2).to(tl.int64)
    start, stop = part_of(split, n_splits, tl.load(lengths + batch), BLOCK_N)
    if start >= stop:
        return  # the merge knows, by the same arithmetic
    kv_head = (tl.program_id(1) % n_kv_heads).to(tl.int64)
    member = tl.program_id(1) // n_kv_heads * ROWS + tl.arange(0, ROWS)  # (ROWS,) of the group
    head = kv_head * group + member  # (ROWS,)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    inside_q = (member < group)[:, None] & (d < D)[None, :]  # (ROWS, BLOCK_D)
    q_at = batch * stride_qb + head[:, None] * stride_qh + d[None, :] * stride_qd
    q_rows = tl.load(q + q_at, inside_q, 0.0).to(DTYPE)  # (ROWS, BLOCK_D)
    k += batch * stride_kb + kv_head * stride_kh + start * stride_ks
    v += batch * stride_vb + kv_head * stride_vh + start * stride_vs
    k_at = d[:, None] * stride_kd + n[None, :] * stride_ks  # (BLOCK_D, BLOCK_N): k transposed
    v_at = n[:, None] * stride_vs + d[None, :] * stride_vd  # (BLOCK_N, BLOCK_D)

    top = tl.full([ROWS], -float("inf"), tl.float32)  # (ROWS,), running maximum, times SCALE
    total = tl.zeros([ROWS], tl.float32)  # (ROWS,), running sum of the weights
    acc = tl.zeros([ROWS, BLOCK_D], tl.float32)  # running sum of the weighted values
    for at in range(start, stop, BLOCK_N):
        inside = at + n < stop  # (BLOCK_N,)
        k_tile = tl.load(k + k_at, (d < D)[:, None] & inside[None, :], 0.0)
        v_tile = tl.load(v + v_at, inside[:, None] & (d < D)[None, :], 0.0)
        top, total, acc = step(q_rows, k_tile, v_tile, inside, top, total, acc, SCALE, DTYPE)
        k += BLOCK_N * stride_ks
        v += BLOCK_N * stride_vs
    store_part(o, lse, top, total, acc, batch, head, n_kv_heads * group, inside_q, D, BLOCK_D)


@triton.jit
def store_part(
    o,
    lse,
    top,
    total,
    acc,
    batch,
    head,
    n_heads,
    inside_q,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """A part's output and log-sum-exp (to base 2), to o (B, H, splits, D), lse (B, H, splits)."""
    slot = (batch * n_heads + head) * tl.num_programs(0) + tl.program_id(0)  # (ROWS,)
    d = tl.arange(0, BLOCK_D)
    tl.store(o + slot[:, None] * D + d[None, :], acc / total[:, None], inside_q)
    tl.store(lse + slot, top + tl.log2(total), tl.max(inside_q.to(tl.int32), 1) > 0)


@triton.jit(do_not_specialize=["n_splits"])
def _merge_parts(
    out,
    o,
    lse,
    lengths,
    n_splits,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    SPLITS: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """The parts of one head merged: weighted by the share of the sum that each saw."""
    batch = tl.program_id(1).to(tl.int64)
    bh = batch * tl.num_programs(0) + tl.program_id(0)
    split = tl.arange(0, SPLITS)
    start, stop = part_of(split, n_splits, tl.load(lengths + batch), BLOCK_N)
    wrote = (split < n_splits) & (start < stop)  # (SPLITS,): the others left their places as found
    part_lse = tl.load(lse + bh * n_splits + split, wrote, -float("inf"))  # (SPLITS,)
    weights = tl.exp2(part_lse - tl.max(part_lse, 0))  # (SPLITS,), the largest is 1
    d = tl.arange(0, BLOCK_D)
    part_at = (bh * n_splits + split)[:, None] * D + d[None, :]  # (SPLITS, BLOCK_D)
    part = tl.load(o + part_at, wrote[:, None] & (d < D)[None, :], 0.0)
    merged = tl.sum(part * weights[:, None], 0) / tl.sum(weights, 0)  # (BLOCK_D,)
    tl.store(out + bh * D + d, merged.to(out.dtype.element_ty), d < D)
