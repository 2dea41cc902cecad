"""A small GPT: learned positions, layer norm before each part, causal heads, MLP, tied head.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), section 2.3;
Ba et al., "Layer Normalization" (2016), section 3; Hendrycks and Gimpel, "Gaussian Error Linear
Units" (2016), section 2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.attention import attention
from reference.masks import causal_mask
from reference.multi_head import merge_heads, split_heads

EPSILON = 1e-5


def layer_norm(x: Tensor, gain: Tensor) -> Tensor:
    """(x - mean) / sqrt(variance + 1e-5) * gain over the last dimension; the variance divides by
    d, and there is no bias. x (..., d), gain (d,); returns (..., d)."""
    centred = x - x.mean(dim=-1, keepdim=True)  # (..., d)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return centred / torch.sqrt(variance + EPSILON) * gain


def gelu(x: Tensor) -> Tensor:
    """x times the standard normal distribution function of x, any shape."""
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def gpt(
    tokens: Tensor,
    embed: Tensor,
    places: Tensor,
    w_qkv: Tensor,
    w_o: Tensor,
    w_up: Tensor,
    w_down: Tensor,
    g_attn: Tensor,
    g_mlp: Tensor,
    g_out: Tensor,
    n_heads: int,
) -> Tensor:
    """Logits of the next token at every position.

    tokens (B, T) int64; embed (V, d); places (P, d), P >= T: the learned positions; for each of L
    layers w_qkv (L, 3*d, d), its rows the queries, keys and values, w_o (L, d, d), w_up (L, F, d),
    w_down (L, d, F), gains g_attn and g_mlp (L, d); g_out (d,); one float dtype; n_heads divides d.
    Returns (B, T, V).
    """
    length = tokens.shape[1]
    allow = causal_mask(length, length, tokens.device)  # (T, T)
    x = embed[tokens] + places[:length]  # (B, T, d)
    for n in range(len(w_qkv)):
        h = layer_norm(x, g_attn[n])  # (B, T, d)
        q, k, v = (split_heads(h @ w.T, n_heads) for w in w_qkv[n].chunk(3))  # (B, H, T, D)
        x = x + merge_heads(attention(q, k, v, allow)) @ w_o[n].T  # (B, T, d)
        h = layer_norm(x, g_mlp[n])  # (B, T, d)
        x = x + gelu(h @ w_up[n].T) @ w_down[n].T  # (B, T, d)
    return layer_norm(x, g_out) @ embed.T  # (B, T, V)
