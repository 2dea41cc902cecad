"""The family of `debug-mla`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from reference.mistakes import core, rope
from reference.mistakes.latent import rows_of_heads, ups
from reference.mistakes.projected import ROPE_SWITCHES, causal_mask, merge_heads, split_heads
from reference.mistakes.rope import apply_rope


def _parts(x: Tensor, first: int, order: str) -> tuple[Tensor, Tensor]:
    """x (..., first + rest) as its first part and the rest; swapped: the rest stands in front."""
    if order == "swapped":
        rest = x.shape[-1] - first
        return x[..., rest:], x[..., :rest]
    return x[..., :first], x[..., first:]


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
    *,
    query_parts: str = "content-first",
    down_parts: str = "latent-first",
    rotated: str = "queries-keys",
    frequencies: str = "rotary",
    rotary: str = "scored",
    cached: str = "rotated",
    roles: str = "right",
    rows: str = "blocks",
    merge: str = "right",
    causal: str = "right",
    scale: str = "right",
    **switches: Any,
) -> tuple[Tensor, Tensor]:
    """Latent attention with a rotary part; as the reference.

    query_parts  of a head: content-first, or swapped; down_parts: latent-first, or swapped
    rotated      queries-keys, queries, or keys
    frequencies  base^(-2i/D_r) of the rotary width, or content: of D in its place
    rotary       scored, or dropped: zeros in its place in the scores
    cached       the shared key rotated, or unrotated
    roles, rows  of w_uk and w_uv: `latent.ups`, `latent.rows_of_heads`
    merge        `projected.merge_heads`; causal: `projected.causal_mask`
    scale        `core.attend`'s, latent-width, or content-width: 1/sqrt(D)
    The rest are switches of `rope.apply_rope` and of `core.attend`.
    """
    turns = {name: switches.pop(name) for name in ROPE_SWITCHES & switches.keys()}
    width, latent_width = w_uk.shape[0] // n_heads, w_uk.shape[1]
    q = split_heads(x @ w_q.T, n_heads, "right")  # (B, H, T, D + D_r)
    q_content, q_rotary = _parts(q, width, query_parts)
    latent, k_rotary = _parts(x @ w_dkv.T, latent_width, down_parts)  # (B, T, R), (B, T, D_r)
    k_rotary = k_rotary[:, None]  # (B, 1, T, D_r)
    if turns.pop("base_used", "given") == "default":
        base = 10000.0
    if frequencies == "content":
        base = base ** (q_rotary.shape[-1] / width)
    q_turned = apply_rope(q_rotary, positions, base, **turns) if rotated != "keys" else q_rotary
    k_turned = apply_rope(k_rotary, positions, base, **turns) if rotated != "queries" else k_rotary
    if rotary == "dropped":
        q_turned = torch.zeros_like(q_turned)
    k_content, v = (
        split_heads(latent @ rows_of_heads(w, n_heads, rows).flatten(0, 1).T, n_heads, "right")
        for w in ups(w_uk, w_uv, roles)
    )  # (B, H, T, D), (B, H, T, D_v)
    q = torch.cat([q_content, q_turned], dim=-1)  # (B, H, T, D + D_r)
    k = torch.cat([k_content, k_turned.expand(-1, n_heads, -1, -1)], dim=-1)
    model_width = {"latent-width": latent_width, "content-width": width}.get(scale, x.shape[-1])
    if scale in ("latent-width", "content-width"):
        scale = "model-width"
    allow = causal_mask(causal, x.shape[1], positions, x.device)  # (T, T)
    mixed = core.attend(q, k, v, allow, scale=scale, model_width=model_width, **switches)
    key = k_turned if cached == "rotated" else k_rotary
    return merge_heads(mixed, merge) @ w_o.T, torch.cat([latent, key[:, 0]], dim=-1)


_CAUSAL = (
    "causal-missing",
    "causal-one-ahead",
    "causal-hides-self",
    "causal-reversed",
)
_ROTATION = (
    "rope-interleaved",
    "rope-mixed",
    "rope-clockwise",
    "rope-exponent-halved",
    "rope-base-ignored",
    "rope-positions-ignored",
    "rope-position-plus-one",
    "rope-angles-bfloat16",
    "rope-angles-rounded-bfloat16",
)

MISTAKES: core.Mistakes = {
    "latent_rope_attention": {
        "scale-by-content-width": {"scale": "content-width"},
        "rope-width-of-content": {"frequencies": "content"},
        "latent-cache-unrotated": {"cached": "unrotated"},
        "latent-rotary-part-unscored": {"rotary": "dropped"},
        "latent-query-parts-swapped": {"query_parts": "swapped"},
        "latent-down-parts-swapped": {"down_parts": "swapped"},
        "latent-ups-swapped": {"roles": "swapped"},
        "latent-ups-interleaved": {"rows": "interleaved"},
        "latent-first-head-for-all": {"rows": "first"},
        "rope-keys-unrotated": {"rotated": "queries"},
        "rope-queries-unrotated": {"rotated": "keys"},
        **{name: rope.MISTAKES["apply_rope"][name] for name in _ROTATION},
        "scale-none": {"scale": "none"},
        "scale-without-root": {"scale": "width"},
        "scale-multiplied": {"scale": "multiplied"},
        "scale-by-d-over-heads": {"scale": "width-by-division"},
        "scale-by-latent-width": {"scale": "latent-width"},
        "scale-by-value-width": {"scale": "value-width"},
        **{name: core.CAUSAL[name] for name in _CAUSAL},
        "mask-fill-zero": {"masking": "zero"},
        "softmax-over-queries": {"softmax": "queries"},
        "heads-merged-without-transpose": {"merge": "reshape"},
    }
}
