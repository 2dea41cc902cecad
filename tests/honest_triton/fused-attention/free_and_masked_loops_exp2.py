import torch
import triton
import triton.language as tl


@triton.jit
def inner(q, acc, l, m, k_at, v_at, lo, hi, first_position, S, D, s_k, s_v, scale,
          MASKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WIDTH: tl.constexpr):
    inside = (tl.arange(0, WIDTH) < D)[None, :] & (tl.arange(0, BN) < BN)[:, None]
    for start in range(lo, hi, BN):
        cols = start + tl.arange(0, BN)
        ok = inside
        if MASKED:
            ok = inside & (cols < S)[:, None]
        k = tl.load(k_at + start * s_k, mask=ok, other=0.0)
        s = tl.dot(q, k.T, out_dtype=acc.dtype, input_precision="ieee") * scale
        if MASKED:
            rows = first_position + tl.arange(0, BM)[:, None]
            s = tl.where((cols[None, :] <= rows) & (cols[None, :] < S), s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        fade = tl.math.exp2(m - m_new)
        l = l * fade + tl.sum(p, 1)
        v = tl.load(v_at + start * s_v, mask=ok, other=0.0)
        acc = acc * fade[:, None]
        acc += tl.dot(p.to(v.dtype), v, out_dtype=acc.dtype, input_precision="ieee")
        m = m_new
    return acc, l, m


@triton.jit
def flash(q_ptr, k_ptr, v_ptr, o_ptr, T, S, scale, H, H_KV, D,
          WIDTH: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, DOUBLE: tl.constexpr):
    t = tl.program_id(0) * BM + tl.arange(0, BM)
    bh = tl.program_id(1).to(tl.int64)
    kv = bh // H * H_KV + bh % H // (H // H_KV)
    d = tl.arange(0, WIDTH)
    n = tl.arange(0, BN)
    mine = (t < T)[:, None] & (d < D)[None, :]
    at = bh * T * D + t[:, None] * D + d[None, :]
    k_at = k_ptr + kv * S * D + n[:, None] * D + d[None, :]
    v_at = v_ptr + kv * S * D + n[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, mask=mine, other=0.0)
    if DOUBLE:
        kind = tl.float64
    else:
        kind = tl.float32
    acc = tl.zeros((BM, WIDTH), kind)
    l = tl.zeros((BM,), kind)
    m = tl.full((BM,), float("-inf"), kind)
    if CAUSAL:
        position = S - T + tl.program_id(0) * BM
        free = (position + 1) // BN * BN  # every row of the tile sees the keys below
        end = tl.minimum(S, position + BM)
    else:
        position = S
        free = S // BN * BN
        end = S
    acc, l, m = inner(q, acc, l, m, k_at, v_at, 0, free, position, S, D, D, D, scale, False, BM, BN, WIDTH)
    acc, l, m = inner(q, acc, l, m, k_at, v_at, free, end, position, S, D, D, D, scale, True, BM, BN, WIDTH)
    acc = acc / l[:, None]
    tl.store(o_ptr + at, acc.to(o_ptr.dtype.element_ty), mask=mine)


def fused_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, D = q.shape
    out = torch.empty_like(q)
    BM, BN = 32, 16
    flash[(triton.cdiv(T, BM), B * H)](
        q, k, v, out, T, k.shape[2], 1.4426950408889634 / D**0.5, H, k.shape[1], D,
        WIDTH=max(16, triton.next_power_of_2(D)), CAUSAL=bool(causal), BM=BM, BN=BN,
        DOUBLE=q.dtype == torch.float64,
    )
    return out
