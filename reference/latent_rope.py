"""Multi-head latent attention with its decoupled rotary part.

Source: DeepSeek-AI, "DeepSeek-V2" (2024), section 2.1.3, equations 14 to 19, without the
compression of the queries and without norms.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads
from reference.rope import apply_rope


def latent_rope_attention(
    x: Tensor,
    w_q: Tensor,
    w_dkv: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    w_o: Tensor,
    n_heads: int,
    positions: Tensor,
    base: float = 10000.0,
) -> tuple[Tensor, Tensor]:
    """Causal latent attention; each head's queries and keys have D features of content and D_r
    rotated ones, and the rotated key is shared by all heads.

    x (B, T, d), w_q (H*(D + D_r), d), w_dkv (R + D_r, d), w_uk (H*D, R), w_uv (H*D_v, R),
    w_o (d, H*D_v), one float dtype; positions (T,) int64. Returns (out, cache): out (B, T, d);
    cache (B, T, R + D_r), the latent and after it the rotated key.
    """
    width, latent_width = w_uk.shape[0] // n_heads, w_uk.shape[1]
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D + D_r)
    q_content, q_rotary = q[..., :width], q[..., width:]
    down = x @ w_dkv.T  # (B, T, R + D_r)
    latent, k_rotary = down[..., :latent_width], down[..., latent_width:]
    k_rotary = apply_rope(k_rotary[:, None], positions, base)  # (B, 1, T, D_r)
    k_content = split_heads(latent @ w_uk.T, n_heads)  # (B, H, T, D)
    v = split_heads(latent @ w_uv.T, n_heads)  # (B, H, T, D_v)
    q = torch.cat([q_content, apply_rope(q_rotary, positions, base)], dim=-1)
    k = torch.cat([k_content, k_rotary.expand(-1, n_heads, -1, -1)], dim=-1)  # (B, H, T, D + D_r)
    length = x.shape[1]
    mixed = attention(q, k, v, causal_mask(length, length, x.device))  # (B, H, T, D_v)
    return merge_heads(mixed) @ w_o.T, torch.cat([latent, k_rotary[:, 0]], dim=-1)
