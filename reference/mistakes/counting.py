"""Numbers that a known slip gives in place of the right one.

Each public function is one slip, named as in the bank (`k-without-v` is `k_without_v`), called
as f(answer, parameters) with the right number and the parameters it came from. It returns the
number the slip gives, in the answer's unit, or None where the slip does not apply to these
parameters or changes nothing.

Two slips may give one number for some parameters (bits for bytes, and 8 query heads a KV head:
both 8 times): whoever names a slip from a number then has more than one to name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from math import isclose
from typing import Any, cast

from reference import counting

Parameters = Mapping[str, float]
Slip = Callable[[float, Parameters], "float | None"]
Mistake = Callable[[float, Mapping[str, object]], "float | None"]

GIBIBYTE = 2**30


def _needs(*names: str) -> Callable[[Slip], Mistake]:
    """Let a slip apply only where the parameters hold all of `names` and the number changes."""

    def decorate(slip: Slip) -> Mistake:
        @wraps(slip)
        def guarded(answer: float, parameters: Mapping[str, object]) -> float | None:
            numbers = {k: v for k, v in parameters.items() if isinstance(v, (int, float))}
            if any(name not in numbers for name in names):
                return None
            result = slip(answer, numbers)
            if result is None or isclose(result, answer, rel_tol=1e-12, abs_tol=0.0):
                return None
            return result

        return guarded

    return decorate


_FIT = {"gpu_gigabytes", "weight_gigabytes", "kv_bytes_per_token", "context"}
_PER_TOKEN = {"layers", "n_kv_heads", "head_dim", "bytes_per_element"}


def _per_token(p: Parameters) -> float:
    return counting.kv_bytes_per_token(**cast("dict[str, Any]", p))


def _changed(factor: float, answer: float, p: Parameters) -> float:
    """The answer when the bytes it rests on come out `factor` times what they are."""
    if p.keys() >= _FIT:
        free = counting.gigabytes(p["gpu_gigabytes"]) - counting.gigabytes(p["weight_gigabytes"])
        return max(0, free // (p["kv_bytes_per_token"] * p["context"] * factor))
    if p.keys() >= {"weight_gigabytes", *_PER_TOKEN}:
        per_token = _per_token(p) * factor
        return counting.gigabytes(p["weight_gigabytes"]) // per_token + 1
    if _is_intensity(p):
        return answer / factor
    return answer * factor


def _is_intensity(p: Parameters) -> bool:
    heads = {"n_heads", "n_kv_heads", "bytes_per_element"}
    return p.keys() >= heads and not p.keys() & {"layers", "seq_len"}


# Factors of 2 and 8.


@_needs()
def k_without_v(answer: float, p: Parameters) -> float | None:
    """Only one of K and V counted as cached, or as read."""
    holds_both = "latent_dim" in p or ("n_kv_heads" in p and "bytes_per_element" in p)
    if not holds_both:
        return None
    return answer / 2 if "latent_dim" in p else _changed(0.5, answer, p)


@_needs()
def extra_factor_two(answer: float, p: Parameters) -> float | None:
    """A 2 too many: one that was already in the formula, or in what was given."""
    if "d_model" in p and "context" in p:
        return answer * 2
    bytes_counted = "bytes_per_element" in p or "kv_bytes_per_token" in p
    return _changed(2, answer, p) if bytes_counted and not _is_intensity(p) else None


@_needs()
def multiply_add_as_one(answer: float, p: Parameters) -> float | None:
    """A multiply and an add counted as one FLOP, where the convention is 2."""
    counts_flops = _is_intensity(p) or ("d_model" in p and "context" in p)
    return answer / 2 if counts_flops else None


@_needs("bytes_per_element")
def bits_for_bytes(answer: float, p: Parameters) -> float | None:
    """Bits where bytes are asked: 16 for a two-byte element."""
    return _changed(8, answer, p)


@_needs("bytes_per_element")
def elements_for_bytes(answer: float, p: Parameters) -> float | None:
    """Elements where bytes are asked: the bytes an element takes left out."""
    return None if _is_intensity(p) else _changed(1 / p["bytes_per_element"], answer, p)


@_needs("n_heads", "n_kv_heads", "bytes_per_element")
def bytes_factor_forgotten(answer: float, p: Parameters) -> float | None:
    """Decode intensity per element read, the bytes an element takes left out: 2 h / h_kv."""
    return answer * p["bytes_per_element"] if _is_intensity(p) else None


@_needs("n_heads", "n_kv_heads", "bytes_per_element")
def two_byte_rule(_: float, p: Parameters) -> float | None:
    """Decode intensity h / h_kv, which holds for two-byte caches, whatever the cache's type."""
    return p["n_heads"] / p["n_kv_heads"] if _is_intensity(p) else None


# Something left out, or taken for something else.


@_needs("n_heads", "n_kv_heads", "bytes_per_element")
def query_heads_for_kv_heads(answer: float, p: Parameters) -> float | None:
    """The cache counted with the query heads, as if every one had its own K and V."""
    return _changed(p["n_heads"] / p["n_kv_heads"], answer, p)


@_needs("layers")
def layers_forgotten(answer: float, p: Parameters) -> float | None:
    """One layer counted for all of them."""
    return float(p["window"]) if "window" in p else _changed(1 / p["layers"], answer, p)


@_needs("batch")
def batch_forgotten(answer: float, p: Parameters) -> float | None:
    """One sequence counted for the batch."""
    return answer / p["batch"]


@_needs("tokens")
def tokens_forgotten(answer: float, p: Parameters) -> float | None:
    """Bytes of one token for the bytes of the sequence."""
    return answer / p["tokens"]


@_needs(*sorted(_FIT))
def context_forgotten(answer: float, p: Parameters) -> float | None:
    """Tokens that fit for sequences that fit."""
    return _changed(1 / p["context"], answer, p)


@_needs("n_kv_heads", "head_dim", "bytes_per_element")
def kv_heads_forgotten(answer: float, p: Parameters) -> float | None:
    """One KV head counted for all of them."""
    return _changed(1 / p["n_kv_heads"], answer, p)


@_needs("seq_len", "n_heads")
def heads_forgotten(answer: float, p: Parameters) -> float | None:
    """One head's scores for those of all heads."""
    return answer / p["n_heads"]


@_needs("seq_len", "n_heads")
def row_for_square(answer: float, p: Parameters) -> float | None:
    """One query's row of S scores for the S x S square."""
    return answer / p["seq_len"]


@_needs("seq_len", "n_heads")
def triangle_for_square(answer: float, p: Parameters) -> float | None:
    """Only the scores at or below the diagonal, where the whole square is held."""
    return answer * (p["seq_len"] + 1) / (2 * p["seq_len"])


@_needs("n_heads", "head_dim")
def hidden_over_heads(answer: float, p: Parameters) -> float | None:
    """The model's width over its heads taken for the head width, which the model sets apart."""
    width = p.get("d_model", p.get("hidden"))
    if width is None:
        return None
    factor = width / p["n_heads"] / p["head_dim"]
    return _changed(factor, answer, p) if "bytes_per_element" in p else answer * factor


# Weights of the attention layer.


@_needs("d_model", "n_heads", "n_kv_heads", "head_dim")
def kv_projections_as_query(_: float, p: Parameters) -> float | None:
    """W_K and W_V as wide as W_Q, as without grouped queries: 4 d h D."""
    return 4.0 * p["d_model"] * p["n_heads"] * p["head_dim"]


@_needs("d_model", "n_heads", "n_kv_heads", "head_dim")
def square_projections(_: float, p: Parameters) -> float | None:
    """All four projections d x d: 4 d^2, where those of Q and the output are not square either."""
    wide = p["n_heads"] * p["head_dim"] == p["d_model"]
    return None if wide else 4.0 * p["d_model"] ** 2


@_needs("d_model", "n_heads", "n_kv_heads", "head_dim")
def output_projection_forgotten(answer: float, p: Parameters) -> float | None:
    """W_Q, W_K and W_V without W_O."""
    return answer - p["d_model"] * p["n_heads"] * p["head_dim"]


@_needs("d_model", "n_heads", "n_kv_heads", "head_dim")
def one_kv_projection(answer: float, p: Parameters) -> float | None:
    """One projection counted for W_K and W_V together."""
    return answer - p["d_model"] * p["n_kv_heads"] * p["head_dim"]


# FLOPs of a layer, and where attention overtakes the rest.


@_needs("d_model", "context")
def ffn_forgotten(answer: float, p: Parameters) -> float | None:
    """Without the feed-forward layer's 16 d^2."""
    return answer - 16.0 * p["d_model"] ** 2


@_needs("d_model", "context")
def attention_flops_forgotten(answer: float, p: Parameters) -> float | None:
    """Without the two products over the context, 4 T d."""
    return answer - 4.0 * p["context"] * p["d_model"]


@_needs("d_model", "context")
def one_attention_product(answer: float, p: Parameters) -> float | None:
    """One of the two products over the context, Q K^T or P V: 2 T d for 4 T d."""
    return answer - 2.0 * p["context"] * p["d_model"]


@_needs("d_model", "context")
def sequence_for_token(answer: float, p: Parameters) -> float | None:
    """The FLOP of all T tokens for those of one."""
    return answer * p["context"]


def _crossover(multiple: int, p: Parameters) -> float | None:
    """`multiple` widths, where the parameters are the crossover question's."""
    others = ("n_heads", "n_kv_heads", "context", "head_dim")
    return None if any(name in p for name in others) else float(multiple * p["d_model"])


@_needs("d_model")
def ffn_only_crossover(_: float, p: Parameters) -> float | None:
    """The feed-forward layer alone against the full square: 16 d^2 = 4 T d, T = 4 d."""
    return _crossover(4, p)


@_needs("d_model")
def ffn_only_causal_crossover(_: float, p: Parameters) -> float | None:
    """The feed-forward layer alone against the causal half: 16 d^2 = 2 T d, T = 8 d."""
    return _crossover(8, p)


@_needs("d_model")
def causal_half_crossover(_: float, p: Parameters) -> float | None:
    """Half of the attention against all weight products: 24 d^2 = 2 T d, T = 12 d."""
    return _crossover(12, p)


@_needs("d_model")
def projections_only_crossover(_: float, p: Parameters) -> float | None:
    """The four projections alone against the full square: 8 d^2 = 4 T d, T = 2 d."""
    return _crossover(2, p)


@_needs("d_model")
def mixed_multiply_add(_: float, p: Parameters) -> float | None:
    """A multiply-add 1 in the weight products and 2 in attention: 12 d^2 = 4 T d, T = 3 d."""
    return _crossover(3, p)


# Ratios and shares.


@_needs()
def inverted_ratio(answer: float, p: Parameters) -> float | None:
    """The ratio upside down."""
    if _is_intensity(p):
        return 2 * p["n_kv_heads"] / (p["n_heads"] * p["bytes_per_element"])
    is_ratio = "latent_dim" in p or set(p) & {"n_heads", "n_kv_heads", "d_model", "layers"} == {
        "n_heads",
        "n_kv_heads",
    }
    return 1 / answer if is_ratio else None


@_needs("n_heads", "head_dim", "latent_dim", "rope_dim")
def rope_part_forgotten(_: float, p: Parameters) -> float | None:
    """The latent alone, without the rotated key part that is cached beside it."""
    return 2 * p["n_heads"] * p["head_dim"] / p["latent_dim"]


@_needs("head_dim")
def variance_for_std(answer: float, p: Parameters) -> float | None:
    """The variance d_k where its square root, the standard deviation, is asked."""
    return float(p["head_dim"]) if isclose(answer**2, p["head_dim"]) else None


@_needs("head_dim")
def scale_for_std(answer: float, p: Parameters) -> float | None:
    """The factor 1/sqrt(d_k) that undoes the spread, for the spread."""
    return 1 / answer if isclose(answer**2, p["head_dim"]) else None


@_needs("seq_len")
def diagonal_hidden(_: float, p: Parameters) -> float | None:
    """The diagonal counted as hidden: (S + 1) / (2 S)."""
    return None if "n_heads" in p else (p["seq_len"] + 1) / (2 * p["seq_len"])


@_needs("seq_len")
def half_for_triangle(_: float, p: Parameters) -> float | None:
    """One half, its limit for long sequences, for the share above the diagonal."""
    return None if "n_heads" in p else 0.5


# Capacity and reach.


@_needs("weight_gigabytes", *sorted(_PER_TOKEN))
def gibibyte_weights(_: float, p: Parameters) -> float | None:
    """The weights' gigabytes read as 2^30 bytes."""
    weights = round(p["weight_gigabytes"] * GIBIBYTE)
    return weights // _per_token(p) + 1


@_needs(*sorted(_FIT))
def weights_forgotten(_: float, p: Parameters) -> float | None:
    """The whole of the memory given to caches, none to the weights."""
    per_sequence = p["kv_bytes_per_token"] * p["context"]
    return counting.gigabytes(p["gpu_gigabytes"]) // per_sequence


@_needs(*sorted(_FIT))
def rounded_up(answer: float, _: Parameters) -> float | None:
    """A sequence that fits only in part counted as one that fits."""
    return answer + 1


@_needs("layers", "window")
def window_power(_: float, p: Parameters) -> float | None:
    """The windows multiplied from layer to layer, where their reaches add up: w^L."""
    reach = p["window"] ** p["layers"]
    return float(reach) if reach < 1e300 else None


@_needs("layers", "window")
def two_sided_window(_: float, p: Parameters) -> float | None:
    """The window taken to reach both ways: 2 L (w - 1) + 1."""
    return 2.0 * p["layers"] * (p["window"] - 1) + 1
