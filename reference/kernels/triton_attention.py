"""Exact attention in one Triton kernel: tiles of queries by keys, no tensor of T x S.

A program holds BLOCK_M queries of one head and walks along the keys, BLOCK_N at a time, with the
running maximum, the running sum and the unnormalised output of each row in registers.

Source: Dao et al., "FlashAttention" (2022), algorithm 1; Dao, "FlashAttention-2" (2023), section 3
(queries outermost, one division at the end, hidden tiles skipped, the mask only where it cuts);
Shah et al., "FlashAttention-3" (2024), on what limits an H100; GQA by Ainslie et al. (2023).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from reference.kernels.triton_shared import (
    DTYPES,
    LOG2E,
    check_device,
    check_dtype,
    check_heads,
    is_hopper,
    padded,
    shared_memory,
)


class Launch(NamedTuple):
    """How a kernel is cut and run."""

    block_m: int  # queries of a program
    block_n: int  # keys of a step
    num_warps: int
    num_stages: int  # steps whose keys and values are on their way into shared memory

    def rows(self, hopper: bool) -> int:
        """Rows of D in shared memory: the keys and values of every step on its way, and q where
        the tensor cores read it there."""
        return self.block_m * hopper + 2 * self.num_stages * self.block_n


LAUNCHES = {
    # Half precision, for the 227 KiB of shared memory and the 64K registers of an H100's
    # multiprocessor. Two groups of four warps hold 64 rows each; wider heads take narrower blocks
    # of keys, so that all fits. Blocks of 64 queries would let two programs share a multiprocessor,
    # one at its exponentials while the other multiplies, but read the keys twice as often: 64 bytes
    # a cycle at full speed, where the L2 cache gives about 24. Compiled for one, 128 wide, none of
    # these spills a register, in Triton 3.6 and 3.7.
    (16, 2): Launch(128, 128, 4, 3),
    (32, 2): Launch(128, 128, 4, 3),
    (64, 2): Launch(128, 128, 8, 3),
    (128, 2): Launch(128, 128, 8, 2),
    (256, 2): Launch(128, 64, 8, 2),
    # Float32 has no tensor cores (TF32 keeps 10 bits of the mantissa): every thread multiplies,
    # from registers, so the tiles are small.
    (16, 4): Launch(64, 32, 4, 2),
    (32, 4): Launch(64, 32, 4, 2),
    (64, 4): Launch(64, 32, 8, 2),
    (128, 4): Launch(64, 16, 16, 2),
    (256, 4): Launch(32, 16, 8, 2),
}
"""By the padded head width and the bytes of an element of what is multiplied."""

BEFORE_HOPPER = {
    # There a warp multiplies 16 rows from its own registers, q among them, so blocks of 64 keys are
    # what fits without a spill: into the 163 KiB of an A100 and, to a width of 128, into the 99 KiB
    # of smaller cards.
    16: Launch(128, 64, 4, 3),
    32: Launch(128, 64, 4, 3),
    64: Launch(128, 64, 4, 3),
    128: Launch(128, 64, 8, 3),
    256: Launch(64, 64, 8, 2),
}
"""In half precision, by the padded head width."""


def launch_for(width: int, dtype: torch.dtype, device: torch.device) -> Launch:
    """The launch for a head width and a dtype; narrower where the device has less room."""
    return launch_with(width, dtype, is_hopper(device), shared_memory(device))


def launch_with(width: int, dtype: torch.dtype, hopper: bool, shared: int) -> Launch:
    """`launch_for` a device of that generation or a later one, with so much `shared` memory."""
    size = 2 if dtype.itemsize == 2 else 4
    early = size == 2 and not hopper
    launch = BEFORE_HOPPER[padded(width)] if early else LAUNCHES[padded(width), size]
    room = shared // (padded(width) * size)  # rows of a tile
    while launch.block_n > 16 and launch.rows(not early) > room:
        launch = launch._replace(block_n=launch.block_n // 2)
    return launch


def fused_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """softmax(q k^T / sqrt(D)) v, in one kernel; forward only.

    q (B, H, T, D), k and v (B, H_kv, S, D), S >= 1, D up to 256, any strides; H_kv divides H, and
    query head h reads key/value head h // (H // H_kv), which is not copied. float16, bfloat16,
    float32, or float64 (computed in float32). With `causal`, T <= S, and query i sits at position
    S - T + i. Returns (B, H, T, D), contiguous, in q's dtype. ValueError for shapes, dtypes or
    devices other than these.
    """
    check_attention(q, k, v, causal)
    return attend(q, k, v, causal, launch_for(q.shape[3], q.dtype, q.device))


def check_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> None:
    """ValueError, in one sentence, for what `fused_attention` does not take."""
    if q.dim() != 4 or k.dim() != 4 or k.shape != v.shape:
        shapes = ", ".join(str(tuple(x.shape)) for x in (q, k, v))
        raise ValueError(f"got {shapes}; give q (B, H, T, D) and k, v (B, H_kv, S, D) alike")
    check_dtype(q, k, v)
    check_heads(q, k.shape[1])
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3]:
        raise ValueError(
            f"q is {tuple(q.shape)} and k {tuple(k.shape)}; give both one batch and one head width"
        )
    queries, keys = q.shape[2], k.shape[2]
    if keys < 1:
        raise ValueError("there are no keys; give at least one")
    if causal and queries > keys:
        raise ValueError(
            f"causal attention of {queries} queries to {keys} keys leaves rows that see nothing; "
            "give T <= S"
        )
    check_device(q, k, v)


def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool, launch: Launch) -> Tensor:
    """`fused_attention` of checked arguments, cut as `launch` says."""
    (batch, n_heads, queries, width), (n_kv_heads, keys) = q.shape, k.shape[1:3]
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, D), contiguous
    if out.numel() == 0:
        return out
    # One number, not two: a grid's second side ends at 65,535. The blocks of one head are
    # neighbours, and so are the heads of a group: they meet in the L2 cache over their keys.
    grid = (triton.cdiv(queries, launch.block_m) * batch * n_heads,)
    with torch.cuda.device_of(q):
        _attention[grid](
            out, q, k, v, *q.stride(), *k.stride(), *v.stride(),
            n_heads, n_heads // n_kv_heads, queries, keys,
            # exp(s / sqrt(D)) = exp2(s x log2(e) / sqrt(D)): one factor for both.
            SCALE=LOG2E / math.sqrt(width),
            CAUSAL=bool(causal),
            DTYPE=DTYPES[q.dtype],
            D=width,
            BLOCK_D=padded(width),
            BLOCK_M=launch.block_m,
            BLOCK_N=launch.block_n,
            num_warps=launch.num_warps,
            num_stages=launch.num_stages,
        )  # fmt: skip
    return out


# The lengths and the numbers of heads are left out of the compiled kernel's key: one kernel serves
# them all. The strides are in it: whether the last is 1, and the others multiples of 16, decides
# whether 16 bytes are loaded at once.
@triton.jit(do_not_specialize=["n_heads", "group", "queries", "keys"])
def _attention(
    out,
    q,
    k,
    v,
    stride_qb,
    stride_qh,
    stride_qt,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_ks,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vs,
    stride_vd,
    n_heads,
    group,
    queries,
    keys,
    SCALE: tl.constexpr,
    CAUSAL: tl.constexpr,
    DTYPE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    blocks = tl.cdiv(queries, BLOCK_M)
    # The last block of a causal head sees the most keys. Started first, it does not end last.
    block = blocks - 1 - tl.program_id(0) % blocks
    # 64 bits from here on: tensors of more than 2^31 entries are usual.
    bh = (tl.program_id(0) // blocks).to(tl.int64)
    batch = bh // n_heads
    head = bh % n_heads
    first = block.to(tl.int64) * BLOCK_M
    q += batch * stride_qb + head * stride_qh + first * stride_qt
    k += batch * stride_kb + (head // group) * stride_kh
    v += batch * stride_vb + (head // group) * stride_vh
    out += (bh * queries + first) * D

    m = tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    row = block * BLOCK_M + m  # (BLOCK_M,), the queries of this program
    # Within a tile 32 bits do; the pointers move from tile to tile.
    k_at = d[:, None] * stride_kd + n[None, :] * stride_ks  # (BLOCK_D, BLOCK_N): k transposed
    v_at = n[:, None] * stride_vs + d[None, :] * stride_vd  # (BLOCK_N, BLOCK_D)
    q_at = m[:, None] * stride_qt + d[None, :] * stride_qd  # (BLOCK_M, BLOCK_D)
    inside = (row < queries)[:, None] & (d < D)[None, :]  # (BLOCK_M, BLOCK_D)
    q_tile = tl.load(q + q_at, inside, 0.0).to(DTYPE)  # (BLOCK_M, BLOCK_D)

    top = tl.full([BLOCK_M], -float("inf"), tl.float32)  # (BLOCK_M,), running maximum, times SCALE
    total = tl.zeros([BLOCK_M], tl.float32)  # (BLOCK_M,), running sum of the weights
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)  # running sum of the weighted values

    # Keys [0, full) are seen by every row here, in whole tiles; [full, end) need a mask; what
    # follows is hidden from all, and never read.
    position = keys - queries + row  # (BLOCK_M,), used if causal
    if CAUSAL:
        seen_by_all = keys - queries + block * BLOCK_M + 1
        end = tl.minimum(seen_by_all + BLOCK_M - 1, keys)
    else:
        seen_by_all = keys
        end = keys
    full = seen_by_all // BLOCK_N * BLOCK_N
    for _ in range(0, full, BLOCK_N):
        top, total, acc = _step(
            q_tile, k + k_at, v + v_at, top, total, acc, position, n, keys,
            SCALE, False, CAUSAL, DTYPE, D, BLOCK_D,
        )  # fmt: skip
        k += BLOCK_N * stride_ks
        v += BLOCK_N * stride_vs
    for start in range(full, end, BLOCK_N):
        top, total, acc = _step(
            q_tile, k + k_at, v + v_at, top, total, acc, position, start + n, keys,
            SCALE, True, CAUSAL, DTYPE, D, BLOCK_D,
        )  # fmt: skip
        k += BLOCK_N * stride_ks
        v += BLOCK_N * stride_vs

    # Every row saw key 0, so no total is 0; rows past the last query are not stored.
    acc = acc / total[:, None]
    tl.store(out + m[:, None] * D + d[None, :], acc.to(out.dtype.element_ty), inside)


@triton.jit
def _step(
    q_tile,
    k_tile_at,
    v_tile_at,
    top,
    total,
    acc,
    position,
    key,
    keys,
    SCALE: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
    DTYPE: tl.constexpr,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """One tile of keys taken into the running maximum, sum and output of the rows."""
    inside_d = tl.arange(0, BLOCK_D) < D
    if MASKED:
        inside = key < keys  # (BLOCK_N,)
        k_tile = tl.load(k_tile_at, inside_d[:, None] & inside[None, :], 0.0)
        v_tile = tl.load(v_tile_at, inside[:, None] & inside_d[None, :], 0.0)
    elif BLOCK_D != D:
        k_tile = tl.load(k_tile_at, inside_d[:, None], 0.0)
        v_tile = tl.load(v_tile_at, inside_d[None, :], 0.0)
    else:
        k_tile = tl.load(k_tile_at)
        v_tile = tl.load(v_tile_at)
    # "ieee": float32 in full; by default it would be rounded to TF32, 10 bits of mantissa.
    scores = tl.dot(q_tile, k_tile.to(DTYPE), input_precision="ieee")  # (BLOCK_M, BLOCK_N)
    if MASKED:
        # A query sits before the end, and so does all that it may see; rows past the last query see
        # more, and are not stored.
        seen = key[None, :] <= position[:, None] if CAUSAL else inside[None, :]
        scores = tl.where(seen, scores, -float("inf"))
    # Every row sees key 0, in its first tile: from there on the maximum is finite.
    top_new = tl.maximum(top, tl.max(scores, 1) * SCALE)  # (BLOCK_M,)
    # Multiplied and added at once: rounded after the subtraction, and not before it too.
    weights = tl.exp2(tl.fma(scores, SCALE, -top_new[:, None]))  # (BLOCK_M, BLOCK_N)
    # What was summed so far was measured against the old maximum.
    factor = tl.exp2(top - top_new)  # (BLOCK_M,)
    total = total * factor + tl.sum(weights, 1)
    acc = acc * factor[:, None]
    acc = tl.dot(weights.to(DTYPE), v_tile.to(DTYPE), acc, input_precision="ieee")
    return top_new, total, acc
