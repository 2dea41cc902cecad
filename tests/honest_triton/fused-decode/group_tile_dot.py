import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    q_ptr, k_ptr, v_ptr, len_ptr, o_ptr,
    qb, qh, qd, kb, kh, ks, kd, vb, vh, vs, vd,
    N_KV, scale, G: tl.constexpr, GP: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
    BLOCK: tl.constexpr, ACC: tl.constexpr,
):
    b = tl.program_id(0) // N_KV
    n = tl.program_id(0) % N_KV
    length = tl.load(len_ptr + b)
    g = tl.arange(0, GP)
    d = tl.arange(0, DP)
    rows = (g[:, None] < G) & (d[None, :] < D)
    q = tl.load(q_ptr + b * qb + (n * G + g[:, None]) * qh + d[None, :] * qd, mask=rows, other=0.0)
    m = tl.full([GP], float("-inf"), dtype=ACC)
    l = tl.zeros([GP], dtype=ACC)
    o = tl.zeros([GP, DP], dtype=ACC)
    for start in range(0, length, BLOCK):
        j = start + tl.arange(0, BLOCK)
        live = (j[:, None] < length) & (d[None, :] < D)
        k = tl.load(k_ptr + b * kb + n * kh + j[:, None] * ks + d[None, :] * kd, mask=live, other=0.0)
        v = tl.load(v_ptr + b * vb + n * vh + j[:, None] * vs + d[None, :] * vd, mask=live, other=0.0)
        s = tl.dot(q, tl.trans(k), out_dtype=ACC, input_precision="ieee") * scale
        s = tl.where(j[None, :] < length, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        fade = tl.exp(m - new)
        p = tl.exp(s - new[:, None])
        l = l * fade + tl.sum(p, axis=1)
        o = o * fade[:, None] + tl.dot(p.to(v.dtype), v, out_dtype=ACC, input_precision="ieee")
        m = new
    o = o / l[:, None]
    at = ((b * N_KV + n) * G + g[:, None]) * D + d[None, :]
    tl.store(o_ptr + at, o.to(o_ptr.dtype.element_ty), mask=rows)


def fused_decode(q, k_cache, v_cache, lengths):
    B, H, _, D = q.shape
    N = k_cache.shape[1]
    out = torch.empty(B, H, 1, D, dtype=q.dtype, device=q.device)
    decode_kernel[(B * N,)](
        q, k_cache, v_cache, lengths, out,
        q.stride(0), q.stride(1), q.stride(3), *k_cache.stride(), *v_cache.stride(),
        N, D**-0.5, G=H // N, GP=max(16, triton.next_power_of_2(H // N)),
        D=D, DP=max(16, triton.next_power_of_2(D)), BLOCK=32,
        ACC=tl.float64 if q.dtype == torch.float64 else tl.float32,
    )
    return out
