import math

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    Q, K, V, O,
    q_b, q_h, q_t, q_d,
    k_b, k_h, k_s, k_d,
    v_b, v_h, v_s, v_d,
    o_b, o_h, o_t, o_d,
    H, GROUP, T, S, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, ACC: tl.constexpr,
):
    tile = tl.program_id(0)
    b = (tl.program_id(1) // H).to(tl.int64)
    h = (tl.program_id(1) % H).to(tl.int64)
    hk = h // GROUP
    rows = tile * BM + tl.arange(0, BM)
    dims = tl.arange(0, DP)
    q = tl.load(
        Q + b * q_b + h * q_h + rows[:, None] * q_t + dims[None, :] * q_d,
        mask=(rows[:, None] < T) & (dims[None, :] < D), other=0.0,
    )
    m = tl.full([BM], float("-inf"), dtype=ACC)
    l = tl.zeros([BM], dtype=ACC)
    acc = tl.zeros([BM, DP], dtype=ACC)
    end = S
    if CAUSAL:
        end = tl.minimum(S, S - T + (tile + 1) * BM)
    for start in range(0, end, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(
            K + b * k_b + hk * k_h + cols[None, :] * k_s + dims[:, None] * k_d,
            mask=(cols[None, :] < S) & (dims[:, None] < D), other=0.0,
        )
        v = tl.load(
            V + b * v_b + hk * v_h + cols[:, None] * v_s + dims[None, :] * v_d,
            mask=(cols[:, None] < S) & (dims[None, :] < D), other=0.0,
        )
        s = tl.dot(q, k, out_dtype=ACC, input_precision="ieee") * scale
        seen = cols[None, :] < S
        if CAUSAL:
            seen = seen & (cols[None, :] <= S - T + rows[:, None])
        s = tl.where(seen, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, out_dtype=ACC, input_precision="ieee")
        m = m_new
    acc = acc / l[:, None]
    tl.store(
        O + b * o_b + h * o_h + rows[:, None] * o_t + dims[None, :] * o_d,
        acc.to(O.dtype.element_ty), mask=(rows[:, None] < T) & (dims[None, :] < D),
    )


def fused_attention(q, k, v, causal):
    B, H, T, D = q.shape
    H_kv, S = k.shape[1:3]
    out = torch.empty_like(q)
    acc = tl.float64 if q.dtype == torch.float64 else tl.float32
    BM, BN = (16, 16) if D > 128 or q.dtype == torch.float64 else (32, 32)
    attention_kernel[(triton.cdiv(T, BM), B * H)](
        q, k, v, out, *q.stride(), *k.stride(), *v.stride(), *out.stride(),
        H, H // H_kv, T, S, 1 / math.sqrt(D),
        CAUSAL=bool(causal), D=D, DP=max(16, triton.next_power_of_2(D)), BM=BM, BN=BN, ACC=acc,
    )
    return out
