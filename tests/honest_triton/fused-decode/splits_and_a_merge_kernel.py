import torch
import triton
import triton.language as tl


@triton.jit
def split_kernel(
    Q, K, V, LENGTHS, PART, LSE, q0, q1, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    H, GROUP, S, SPLITS, PER_SPLIT, scale,
    D: tl.constexpr, W: tl.constexpr, N: tl.constexpr, REAL: tl.constexpr,
):
    bh = tl.program_id(0)
    split = tl.program_id(1)
    b = bh // H
    h = bh % H
    d = tl.arange(0, W)
    q = tl.load(Q + b * q0 + h * q1 + d * q3, mask=d < D, other=0.0).to(REAL) * scale
    lo = split * PER_SPLIT
    hi = tl.minimum(lo + PER_SPLIT, tl.load(LENGTHS + b))
    m = tl.full([1], float("-inf"), REAL)
    l = tl.zeros([1], REAL)
    o = tl.zeros([W], REAL)
    for start in range(lo, hi, N):
        j = start + tl.arange(0, N)
        ok = (j[:, None] < hi) & (d[None, :] < D)
        k = tl.load(K + b * k0 + (h // GROUP) * k1 + j[:, None] * k2 + d[None, :] * k3, mask=ok, other=0.0)
        s = tl.where(j < hi, tl.sum(k.to(REAL) * q[None, :], 1), float("-inf"))
        new = tl.maximum(m, tl.max(s, 0))
        p = tl.exp2(s - new)
        fade = tl.exp2(m - new)
        v = tl.load(V + b * v0 + (h // GROUP) * v1 + j[:, None] * v2 + d[None, :] * v3, mask=ok, other=0.0)
        o = o * fade + tl.sum(p[:, None] * v.to(REAL), 0)
        l = l * fade + tl.sum(p, 0)
        m = new
    at = bh * SPLITS + split
    empty = l == 0.0
    tl.store(PART + at * D + d, o / tl.where(empty, 1.0, l), mask=d < D)
    tl.store(LSE + 2 * at + tl.arange(0, 1), m)
    tl.store(LSE + 2 * at + 1 + tl.arange(0, 1), l)


@triton.jit
def merge_kernel(PART, LSE, OUT, SPLITS, D: tl.constexpr, W: tl.constexpr, SP: tl.constexpr):
    bh = tl.program_id(0)
    i = tl.arange(0, SP)
    d = tl.arange(0, W)
    m = tl.load(LSE + 2 * (bh * SPLITS + i), mask=i < SPLITS, other=float("-inf"))
    l = tl.load(LSE + 2 * (bh * SPLITS + i) + 1, mask=i < SPLITS, other=0.0)
    w = tl.exp2(m - tl.max(m, 0)) * l
    w = w / tl.sum(w, 0)
    part = tl.load(
        PART + (bh * SPLITS + i[:, None]) * D + d[None, :],
        mask=(i[:, None] < SPLITS) & (d[None, :] < D), other=0.0,
    )
    o = tl.sum(part * w[:, None], 0)
    tl.store(OUT + bh * D + d, o.to(OUT.dtype.element_ty), mask=d < D)


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    H_kv, S = k_cache.shape[1:3]
    real = torch.float64 if q.dtype == torch.float64 else torch.float32
    splits = min(8, triton.cdiv(S, 64))
    per_split = triton.cdiv(S, splits)
    part = torch.empty(B * H, splits, D, dtype=real, device=q.device)
    stats = torch.empty(B * H, splits, 2, dtype=real, device=q.device)
    out = torch.empty(B, H, 1, D, dtype=q.dtype, device=q.device)
    W = triton.next_power_of_2(D)
    split_kernel[(B * H, splits)](
        q, k_cache, v_cache, lengths, part, stats,
        q.stride(0), q.stride(1), q.stride(3), *k_cache.stride(), *v_cache.stride(),
        H, H // H_kv, S, splits, per_split, 1.4426950408889634 / D**0.5,
        D=D, W=W, N=64, REAL=tl.float64 if real == torch.float64 else tl.float32,
    )
    merge_kernel[(B * H,)](part, stats, out, splits, D=D, W=W, SP=triton.next_power_of_2(splits))
    return out
