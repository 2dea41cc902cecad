"""Multi-head latent attention: keys and values are made from one small latent a token.

Source: DeepSeek-AI, "DeepSeek-V2" (2024), section 2.1.2 and appendix C (the absorbed form); here
without the decoupled rotary part of section 2.1.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads


def latent_attention(
    x: Tensor,
    w_q: Tensor,
    w_dkv: Tensor,
    w_uk: Tensor,
    w_uv: Tensor,
    w_o: Tensor,
    n_heads: int,
) -> tuple[Tensor, Tensor]:
    """Causal attention whose keys and values are projections of a latent, a projection being
    `x @ w.T`.

    x (B, T, d), w_q (H*D, d), w_dkv (R, d), w_uk (H*D, R), w_uv (H*D_v, R), w_o (d, H*D_v), one
    float dtype. Returns (out, latent): out (B, T, d), and the latent (B, T, R), all that a cache
    has to keep.
    """
    latent = x @ w_dkv.T  # (B, T, R)
    q = split_heads(x @ w_q.T, n_heads)  # (B, H, T, D)
    k = split_heads(latent @ w_uk.T, n_heads)  # (B, H, T, D)
    v = split_heads(latent @ w_uv.T, n_heads)  # (B, H, T, D_v)
    length = x.shape[1]
    mixed = attention(q, k, v, causal_mask(length, length, x.device))  # (B, H, T, D_v)
    return merge_heads(mixed) @ w_o.T, latent


def latent_decode(q: Tensor, latent: Tensor, w_uk: Tensor, w_uv: Tensor) -> Tensor:
    """One decoding step over cached latents, the up-projections absorbed.

    q (B, H, 1, D), latent (B, S, R), w_uk (H*D, R), w_uv (H*D_v, R), one float dtype. A score is
    q . (W_uk c) = (W_uk^T q) . c, and the mixture of W_uv c is W_uv times the mixture of c: each
    head works on the latents themselves, and no key or value of a position is ever made. Returns
    (B, H, 1, D_v).
    """
    n_heads, width = q.shape[1], q.shape[-1]
    up_k = w_uk.view(n_heads, width, -1)  # (H, D, R)
    up_v = w_uv.view(n_heads, -1, w_uv.shape[-1])  # (H, D_v, R)
    absorbed = q @ up_k  # (B, H, 1, R)
    scores = absorbed @ latent[:, None].mT / math.sqrt(width)  # (B, H, 1, S)
    mixed = torch.softmax(scores, dim=-1) @ latent[:, None]  # (B, H, 1, R)
    return mixed @ up_v.mT  # (B, H, 1, D_v)
