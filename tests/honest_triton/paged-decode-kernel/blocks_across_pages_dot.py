import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, o_ptr,
    sqb, sqh, sqd, skp, skt, skh, skd, svp, svt, svh, svd, stb, stj, page, scale,
    N_KV: tl.constexpr, G: tl.constexpr, GP: tl.constexpr, D: tl.constexpr, DP: tl.constexpr,
    BLOCK: tl.constexpr, ACC: tl.constexpr,
):
    """A block holds 32 tokens, of however many pages; each token looks up its own."""
    b = tl.program_id(0)
    n = tl.program_id(1)
    length = tl.load(len_ptr + b)
    g = tl.arange(0, GP)
    d = tl.arange(0, DP)
    q = tl.load(
        q_ptr + b * sqb + (n * G + g)[:, None] * sqh + d[None, :] * sqd,
        mask=(g < G)[:, None] & (d < D)[None, :], other=0.0,
    )
    m = tl.full([GP], float("-inf"), ACC)
    l = tl.zeros([GP], ACC)
    acc = tl.zeros([GP, DP], ACC)
    for start in range(0, length, BLOCK):
        t = start + tl.arange(0, BLOCK)
        used = t < length
        number = tl.load(table_ptr + b * stb + (t // page) * stj, mask=used, other=0)
        slot = t % page
        k = tl.load(
            k_ptr + (number * skp + slot * skt + n * skh)[None, :] + d[:, None] * skd,
            mask=used[None, :] & (d < D)[:, None], other=0.0,
        )
        s = tl.dot(q, k, out_dtype=ACC, input_precision="ieee")
        s = tl.where(used[None, :], s * scale, float("-inf"))
        top = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - top[:, None])
        fade = tl.exp2(m - top)
        v = tl.load(
            v_ptr + (number * svp + slot * svt + n * svh)[:, None] + d[None, :] * svd,
            mask=used[:, None] & (d < D)[None, :], other=0.0,
        )
        l = l * fade + tl.sum(p, 1)
        acc = acc * fade[:, None] + tl.dot(p.to(v.dtype), v, out_dtype=ACC, input_precision="ieee")
        m = top
    acc = acc / l[:, None]
    tl.store(
        o_ptr + ((b * N_KV + n) * G + g)[:, None] * D + d[None, :],
        acc.to(o_ptr.dtype.element_ty), mask=(g < G)[:, None] & (d < D)[None, :],
    )


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page, n_kv = k_pages.shape[1], k_pages.shape[2]
    group = H // n_kv
    out = torch.empty((B, H, 1, D), dtype=q.dtype, device=q.device)
    kernel[(B, n_kv)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(0), q.stride(1), q.stride(3), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        page, 1.4426950408889634 / D**0.5,
        N_KV=n_kv, G=group, GP=max(16, triton.next_power_of_2(group)),
        D=D, DP=max(16, triton.next_power_of_2(D)), BLOCK=32,
        ACC=tl.float64 if q.dtype == torch.float64 else tl.float32,
    )
    return out
