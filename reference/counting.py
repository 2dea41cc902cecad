"""Memory, FLOPs and reach of attention, counted: plain arithmetic, no tensors.

Conventions. A multiply-add is 2 FLOP. A gigabyte in a parameter's name is 1e9 bytes. The
feed-forward layer has two matrices of d_model x 4 d_model. Biases, norms and embeddings are not
counted. Each function takes its parameters by keyword and ignores others, so that a question may
draw more (a model's name, its number of query heads) than its formula uses.

Sources: Vaswani et al. 2017, sections 3.2 and 3.3 (shapes); Kaplan et al. 2020, table 1 (FLOPs
a token); Shazeer 2019 and Ainslie et al. 2023 (multi-query, grouped queries); DeepSeek-AI 2024
(latent attention); Jiang et al. 2023 (sliding window).
"""

from __future__ import annotations

from math import sqrt

Number = int | float

GIGABYTE = 10**9


def gigabytes(count: Number) -> int:
    """`count` gigabytes of 1e9 bytes, in bytes."""
    return round(count * GIGABYTE)


def kv_bytes_per_token(
    *, layers: int, n_kv_heads: int, head_dim: int, bytes_per_element: Number, **_: object
) -> Number:
    """Bytes of KV cache for one token over all layers: 2 L h_kv D bytes (2: K and V)."""
    return 2 * layers * n_kv_heads * head_dim * bytes_per_element


def kv_cache_size(
    *,
    layers: int,
    n_kv_heads: int,
    head_dim: int,
    tokens: int,
    batch: int,
    bytes_per_element: Number,
    **_: object,
) -> Number:
    """Bytes of KV cache for `batch` sequences of `tokens` each, all layers full-length."""
    per_token = kv_bytes_per_token(
        layers=layers,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        bytes_per_element=bytes_per_element,
    )
    return per_token * tokens * batch


def score_matrix_size(
    *, batch: int, n_heads: int, seq_len: int, bytes_per_element: Number, **_: object
) -> Number:
    """Bytes of one layer's scores, the full square of every query head: B h S^2 bytes."""
    return batch * n_heads * seq_len**2 * bytes_per_element


def gqa_saving(*, n_heads: int, n_kv_heads: int, **_: object) -> float:
    """How many times smaller the cache is than with one KV head a query head: h / h_kv."""
    return n_heads / n_kv_heads


def mla_saving(
    *, n_heads: int, head_dim: int, latent_dim: int, rope_dim: int, **_: object
) -> float:
    """MHA's cached elements over latent attention's: 2 h D / (d_c + d_rope)."""
    return 2 * n_heads * head_dim / (latent_dim + rope_dim)


def attention_parameters(
    *, d_model: int, n_heads: int, n_kv_heads: int, head_dim: int, **_: object
) -> int:
    """Weights of one attention layer: W_Q and W_O of d x h D, W_K and W_V of d x h_kv D."""
    return 2 * d_model * n_heads * head_dim + 2 * d_model * n_kv_heads * head_dim


def layer_flops(*, d_model: int, context: int, **_: object) -> int:
    """FLOP a token and layer with MHA: 24 d^2 in weight products, 4 T d in attention.

    The token sees `context` keys: no causal halving.
    """
    return 24 * d_model**2 + 4 * context * d_model


def flops_crossover(*, d_model: int, **_: object) -> int:
    """Tokens of context at which attention costs what the weight products do.

    4 T d = 24 d^2, hence T = 6 d: every weight product of the layer against the full square.
    """
    return 6 * d_model


def decode_intensity(
    *, n_heads: int, n_kv_heads: int, bytes_per_element: Number, **_: object
) -> float:
    """FLOP per byte of cache read in one decode step: 2 h / (h_kv bytes).

    4 h S D FLOP (two products) over 2 h_kv S D elements read (K and V), for any S and D.
    """
    return 2 * n_heads / (n_kv_heads * bytes_per_element)


def kv_exceeds_weights(
    *,
    weight_gigabytes: Number,
    layers: int,
    n_kv_heads: int,
    head_dim: int,
    bytes_per_element: Number,
    **_: object,
) -> int:
    """First token count at which ONE sequence's cache is strictly larger than the weights.

    `bytes_per_element` is the cache's.
    """
    per_token = kv_bytes_per_token(
        layers=layers,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        bytes_per_element=bytes_per_element,
    )
    return int(gigabytes(weight_gigabytes) // per_token) + 1


def max_concurrency(
    *,
    gpu_gigabytes: Number,
    weight_gigabytes: Number,
    kv_bytes_per_token: Number,
    context: int,
    **_: object,
) -> int:
    """Whole sequences of `context` tokens whose cache fits beside the weights; none if they do not.

    Activations and the allocator's own needs are not counted.
    """
    free = gigabytes(gpu_gigabytes) - gigabytes(weight_gigabytes)
    return max(0, int(free // (kv_bytes_per_token * context)))


def dot_product_std(*, head_dim: int, **_: object) -> float:
    """Standard deviation of q . k for independent parts of mean 0, variance 1: sqrt(d_k)."""
    return sqrt(head_dim)


def causal_fraction(*, seq_len: int, **_: object) -> float:
    """Share of the S x S scores above the diagonal, hidden by causality: (S - 1) / (2 S)."""
    return (seq_len - 1) / (2 * seq_len)


def sliding_window_reach(*, layers: int, window: int, **_: object) -> int:
    """Positions that can reach the last one through all layers, itself included: L (w - 1) + 1.

    A window of w is the position itself and the w - 1 before it.
    """
    return layers * (window - 1) + 1
