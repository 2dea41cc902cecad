"""One decoding step over a paged key/value cache by split-KV, in two Triton kernels.

As `reference.kernels.triton_decode`, but a key's place is looked up: the pages are read where they
lie, and nothing is gathered first.

Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with
PagedAttention" (2023), section 4.1; Dao et al., "Flash-Decoding for long-context inference" (2023).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from reference.kernels.triton_decode import Parts, part_of, step, store_part
from reference.kernels.triton_shared import check_decode, check_device, check_dtype, check_heads


def paged_decode(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """Attention of one query a sequence over its own tokens, wherever their pages lie.

    q (B, H, 1, D), pages (P, page, H_kv, D), D up to 256, any strides; H_kv divides H, and query
    head h reads key/value head h // (H // H_kv). float16, bfloat16, float32, or float64 (computed
    in float32). block_table (B, max_pages) int64: the physical page of each logical one, -1 where
    unused. lengths (B,) int64, each 1 to max_pages * page: token t of a sequence is in slot
    t % page of its logical page t // page. What is past a length is never read; a length or a used
    entry out of range is not looked for, since reading it here would stop the GPU. Returns
    (B, H, 1, D), contiguous, in q's dtype. ValueError for shapes, dtypes or devices other than
    these.
    """
    check_decode(q, lengths)
    if k_pages.dim() != 4 or k_pages.shape != v_pages.shape or k_pages.shape[3] != q.shape[3]:
        shapes = ", ".join(str(tuple(x.shape)) for x in (q, k_pages, v_pages))
        raise ValueError(f"got {shapes}; give q (B, H, 1, D) and pages (P, page, H_kv, D)")
    if block_table.dim() != 2 or len(block_table) != len(q) or block_table.dtype != torch.int64:
        raise ValueError(
            f"the block table is {tuple(block_table.shape)} {block_table.dtype}; "
            f"give ({len(q)}, max_pages) int64"
        )
    check_dtype(q, k_pages, v_pages)
    page, n_kv_heads = k_pages.shape[1:3]
    check_heads(q, n_kv_heads)
    check_device(q, k_pages, v_pages, block_table, lengths)
    parts = Parts(q, n_kv_heads, block_table.shape[1] * page)
    if q.numel():
        with torch.cuda.device_of(q):
            _attend_parts_of_pages[parts.grid](
                parts.o, parts.lse, q, k_pages, v_pages, block_table, lengths,
                q.stride(0), q.stride(1), q.stride(3), *k_pages.stride(), *v_pages.stride(),
                *block_table.stride(), n_kv_heads, parts.group, PAGE=page, **parts.sizes,
            )  # fmt: skip
    return parts.merged(lengths)


@triton.jit(do_not_specialize=["n_kv_heads", "group"])
def _attend_parts_of_pages(
    o,
    lse,
    q,
    k,
    v,
    block_table,
    lengths,
    stride_qb,
    stride_qh,
    stride_qd,
    stride_kp,
    stride_ks,
    stride_kh,
    stride_kd,
    stride_vp,
    stride_vs,
    stride_vh,
    stride_vd,
    stride_tb,
    stride_tp,
    n_kv_heads,
    group,
    PAGE: tl.constexpr,
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
    k += kv_head * stride_kh
    v += kv_head * stride_vh
    block_table += batch * stride_tb

    top = tl.full([ROWS], -float("inf"), tl.float32)  # (ROWS,), running maximum, times SCALE
    total = tl.zeros([ROWS], tl.float32)  # (ROWS,), running sum of the weights
    acc = tl.zeros([ROWS, BLOCK_D], tl.float32)  # running sum of the weighted values
    for at in range(start, stop, BLOCK_N):
        token = at + n  # (BLOCK_N,)
        inside = token < stop  # (BLOCK_N,)
        # 64 bits, as the table has them: a page's place may lie past 2^31 entries. A step may take
        # keys from several pages, or part of one: the page's size need not divide by BLOCK_N.
        physical = tl.load(block_table + token // PAGE * stride_tp, inside, 0)  # (BLOCK_N,)
        slot = token % PAGE  # (BLOCK_N,)
        k_at = physical * stride_kp + slot * stride_ks  # (BLOCK_N,)
        v_at = physical * stride_vp + slot * stride_vs  # (BLOCK_N,)
        k_tile = tl.load(
            k + k_at[None, :] + d[:, None] * stride_kd, (d < D)[:, None] & inside[None, :], 0.0
        )  # (BLOCK_D, BLOCK_N): k transposed
        v_tile = tl.load(
            v + v_at[:, None] + d[None, :] * stride_vd, inside[:, None] & (d < D)[None, :], 0.0
        )  # (BLOCK_N, BLOCK_D)
        top, total, acc = step(q_rows, k_tile, v_tile, inside, top, total, acc, SCALE, DTYPE)
    store_part(o, lse, top, total, acc, batch, head, n_kv_heads * group, inside_q, D, BLOCK_D)
