"""The references' mathematics in another order: the measure of what rounding may do.

A baseline works in its input's dtype throughout, has its reference's signature, and is
differentiable where the drill asks for gradients. Named `<drill>_<how>`.
"""

from __future__ import annotations

from reference.baselines.attention import (
    attention_block_einsum,
    attention_block_per_head,
    attention_block_tiled,
    attention_einsum,
    attention_finite_fill,
    attention_per_head,
    attention_tiled,
    causal_mha_einsum,
    causal_mha_finite_fill,
    causal_mha_per_head,
    causal_mha_tiled,
    gqa_finite_fill,
    gqa_grouped,
    gqa_per_head,
    gqa_tiled,
    kv_cache_decode_einsum,
    kv_cache_decode_grouped,
    kv_cache_decode_online,
    kv_cache_decode_per_head,
    padding_mask_einsum,
    padding_mask_finite_fill,
    padding_mask_per_sequence,
    padding_mask_tiled,
)
from reference.baselines.numpy_attention import (
    causal_mha_numpy_einsum,
    causal_mha_numpy_per_head,
    causal_mha_numpy_rows,
)
from reference.baselines.rope import (
    rope_complex,
    rope_matrix,
    rope_rotate_half,
    rope_stacked,
)
from reference.baselines.softmax import (
    causal_mask_rows,
    causal_mask_tril,
    causal_mask_triu,
    online_softmax_entries,
    online_softmax_pairwise,
    online_softmax_reversed,
    online_softmax_two_pass,
    stable_softmax_blocks,
    stable_softmax_builtin,
    stable_softmax_log_space,
)

__all__ = [
    "attention_block_einsum",
    "attention_block_per_head",
    "attention_block_tiled",
    "attention_einsum",
    "attention_finite_fill",
    "attention_per_head",
    "attention_tiled",
    "causal_mask_rows",
    "causal_mask_tril",
    "causal_mask_triu",
    "causal_mha_einsum",
    "causal_mha_finite_fill",
    "causal_mha_numpy_einsum",
    "causal_mha_numpy_per_head",
    "causal_mha_numpy_rows",
    "causal_mha_per_head",
    "causal_mha_tiled",
    "gqa_finite_fill",
    "gqa_grouped",
    "gqa_per_head",
    "gqa_tiled",
    "kv_cache_decode_einsum",
    "kv_cache_decode_grouped",
    "kv_cache_decode_online",
    "kv_cache_decode_per_head",
    "online_softmax_entries",
    "online_softmax_pairwise",
    "online_softmax_reversed",
    "online_softmax_two_pass",
    "padding_mask_einsum",
    "padding_mask_finite_fill",
    "padding_mask_per_sequence",
    "padding_mask_tiled",
    "rope_complex",
    "rope_matrix",
    "rope_rotate_half",
    "rope_stacked",
    "stable_softmax_blocks",
    "stable_softmax_builtin",
    "stable_softmax_log_space",
]
