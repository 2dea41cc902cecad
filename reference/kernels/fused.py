"""The bar for a kernel: torch's own fused operations, with the signatures of `naive`.

These run in processes of their own, so this module imports torch and nothing of ours.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

HALF = (torch.float16, torch.bfloat16)
SHARES_HEADS = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 5)


def softmax(x: Tensor) -> Tensor:
    """`fused-softmax`: x (rows, cols) to (rows, cols), in one pass over memory."""
    return torch.softmax(x, dim=-1)


def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """`fused-attention`: q (B, H, T, D), k and v (B, H_kv, S, D). Returns (B, H, T, D).

    torch's own flag aligns the mask at the top left, so it serves where T equals S.
    """
    group = q.shape[1] // k.shape[1]
    queries, keys = q.shape[-2], k.shape[-2]
    allow = None
    if causal and queries != keys:
        full = torch.ones(queries, keys, dtype=torch.bool, device=q.device)  # (T, S)
        allow = full.tril(keys - queries)
    if SHARES_HEADS and q.is_cuda and q.dtype in HALF and allow is None:
        # Flash and cuDNN read the shared heads where they lie.
        return scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=group > 1)
    # What enable_gqa does in the other ones: next to T x S the copy costs little.
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))  # (B, H, S, D)
    return scaled_dot_product_attention(
        q, k, v, attn_mask=allow, is_causal=causal and allow is None
    )


def decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    """`fused-decode`: q (B, H, 1, D), caches (B, H_kv, S, D), lengths (B,) to (B, H, 1, D).

    The queries of a group are rows against their shared head: with enable_gqa torch expands the
    caches, which takes twice the time and more.
    """
    rows = q.reshape(len(q), k_cache.shape[1], -1, q.shape[-1])  # (B, H_kv, G, D)
    slot = torch.arange(k_cache.shape[2], device=q.device)  # (S,)
    used = (slot < lengths[:, None])[:, None, None, :]  # (B, 1, 1, S)
    out = scaled_dot_product_attention(rows, k_cache, v_cache, attn_mask=used)
    return out.reshape(q.shape)  # (B, H, 1, D)


def paged_decode(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor
) -> Tensor:
    """`paged-decode-kernel`: pages gathered, since torch has no paged attention; then `decode`.

    q (B, H, 1, D), pages (P, page, H_kv, D), block_table (B, max_pages), lengths (B,). Returns
    (B, H, 1, D).
    """
    k, v = (
        pages[block_table.clamp(min=0)].flatten(1, 2).transpose(1, 2)  # (B, H_kv, S, D), a view
        for pages in (k_pages, v_pages)
    )
    return decode(q, k, v, lengths)
