import torch
import triton
import triton.language as tl


@triton.jit
def paged_kernel(
    Q, K, V, TABLE, LENGTHS, OUT,
    q_b, q_h, q_d, k_p, k_t, k_h, k_d, v_p, v_t, v_h, v_d, t_b, t_j,
    H, GROUP, PAGE, scale, D: tl.constexpr, W: tl.constexpr, SLOTS: tl.constexpr, ACC: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    kv = h // GROUP
    length = tl.load(LENGTHS + b)
    d = tl.arange(0, W)
    slot = tl.arange(0, SLOTS)
    q = tl.load(Q + b * q_b + h * q_h + d * q_d, mask=d < D, other=0.0).to(ACC)
    m = tl.full([1], float("-inf"), ACC)
    l = tl.zeros([1], ACC)
    o = tl.zeros([W], ACC)
    for j in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(TABLE + b * t_b + j * t_j)
        here = (slot < PAGE) & (j * PAGE + slot < length)
        ok = here[:, None] & (d[None, :] < D)
        k = tl.load(K + page * k_p + slot[:, None] * k_t + kv * k_h + d[None, :] * k_d, mask=ok, other=0.0)
        s = tl.sum(q[None, :] * k.to(ACC), axis=1) * scale
        s = tl.where(here, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - new)
        fade = tl.exp(m - new)
        v = tl.load(V + page * v_p + slot[:, None] * v_t + kv * v_h + d[None, :] * v_d, mask=ok, other=0.0)
        o = o * fade + tl.sum(p[:, None] * v.to(ACC), axis=0)
        l = l * fade + tl.sum(p, axis=0)
        m = new
    tl.store(OUT + (b * H + h) * D + d, (o / l).to(OUT.dtype.element_ty), mask=d < D)


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page, H_kv = k_pages.shape[1:3]
    out = torch.empty(B, H, 1, D, dtype=q.dtype, device=q.device)
    paged_kernel[(B, H)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(0), q.stride(1), q.stride(3), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        H, H // H_kv, page, 1 / D**0.5,
        D=D, W=triton.next_power_of_2(D), SLOTS=triton.next_power_of_2(page),
        ACC=tl.float64 if q.dtype == torch.float64 else tl.float32,
    )
    return out
