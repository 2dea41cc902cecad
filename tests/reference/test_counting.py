"""The counts, against the documents' figures and the laws they obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import counting, models

COUNT = st.integers(1, 512)
BYTES = st.sampled_from([1, 2, 4])

LLAMA_3_8B = {"layers": 32, "n_kv_heads": 8, "head_dim": 128, "bytes_per_element": 2}


@pytest.mark.parametrize(
    ("name", "kibibytes"),
    [("Llama-2-7b-hf", 512), ("Llama-3-70B", 320), ("Llama-3-8B", 128), ("Gemma-2b", 18)],
)
def test_cache_a_token_of_known_models(name: str, kibibytes: int) -> None:
    shape = models.load()[name]
    per_token = counting.kv_bytes_per_token(
        layers=shape["layers"],  # type: ignore[arg-type]
        n_kv_heads=shape["kv_heads"],  # type: ignore[arg-type]
        head_dim=shape["head_dim"],  # type: ignore[arg-type]
        bytes_per_element=2,
    )
    assert per_token == kibibytes * 1024


def test_cache_of_a_long_sequence_is_the_documents_16_gib() -> None:
    assert counting.kv_cache_size(tokens=131_072, batch=1, **LLAMA_3_8B) == 16 * 2**30


def test_scores_of_a_layer_are_the_documents_32_gib() -> None:
    size = counting.score_matrix_size(batch=8, n_heads=32, seq_len=8192, bytes_per_element=2)
    assert size == 32 * 2**30


def test_crossover_at_the_documents_width() -> None:
    assert counting.flops_crossover(d_model=4096) == 24_576


def test_latent_attention_saving_of_the_documents_table() -> None:
    saving = counting.mla_saving(n_heads=128, head_dim=128, latent_dim=512, rope_dim=64)
    assert saving == pytest.approx(32_768 / 576)


@pytest.mark.parametrize(
    ("n_kv_heads", "bytes_", "intensity"), [(128, 2, 1), (8, 2, 16), (1, 2, 128), (8, 1, 32)]
)
def test_decode_intensity_of_the_documents_table(
    n_kv_heads: int, bytes_: int, intensity: float
) -> None:
    given_ = {"n_heads": 128, "n_kv_heads": n_kv_heads, "bytes_per_element": bytes_}
    assert counting.decode_intensity(**given_) == intensity


def test_attention_weights_where_the_head_width_is_its_own_setting() -> None:
    # W_Q and W_O of 2560 x 4096, W_K and W_V of 2560 x 1024: Qwen3-4B.
    count = counting.attention_parameters(d_model=2560, n_heads=32, n_kv_heads=8, head_dim=128)
    assert count == 2 * 2560 * 4096 + 2 * 2560 * 1024


def test_cache_outgrows_the_weights_where_the_documents_say() -> None:
    first = counting.kv_exceeds_weights(weight_gigabytes=16.06, **LLAMA_3_8B)
    assert first == pytest.approx(122_530, rel=1e-4)


@given(layers=COUNT, kv=COUNT, width=COUNT, bytes_=BYTES, gigabytes=st.floats(0.1, 2000))
def test_cache_exceeds_the_weights_at_that_token_and_not_before(
    layers: int, kv: int, width: int, bytes_: int, gigabytes: float
) -> None:
    shape = {
        "layers": layers, "n_kv_heads": kv, "head_dim": width, "bytes_per_element": bytes_
    }  # fmt: skip
    first = counting.kv_exceeds_weights(weight_gigabytes=gigabytes, **shape)
    weights = counting.gigabytes(gigabytes)
    assert counting.kv_cache_size(tokens=first, batch=1, **shape) > weights
    assert counting.kv_cache_size(tokens=first - 1, batch=1, **shape) <= weights


@given(
    factors=st.fixed_dictionaries(
        dict.fromkeys(("layers", "n_kv_heads", "head_dim", "tokens", "batch"), COUNT)
    ),
    bytes_=BYTES,
    times=st.integers(2, 9),
)
def test_cache_grows_with_each_factor_alike(
    factors: dict[str, int], bytes_: int, times: int
) -> None:
    size = counting.kv_cache_size(bytes_per_element=bytes_, **factors)
    for name in factors:
        more = {**factors, name: factors[name] * times}
        assert counting.kv_cache_size(bytes_per_element=bytes_, **more) == times * size
    assert counting.kv_cache_size(bytes_per_element=bytes_ * times, **factors) == times * size


@given(batch=COUNT, heads=COUNT, length=COUNT, bytes_=BYTES)
def test_scores_grow_with_the_square_of_the_length(
    batch: int, heads: int, length: int, bytes_: int
) -> None:
    rest = {"batch": batch, "n_heads": heads, "bytes_per_element": bytes_}
    once = counting.score_matrix_size(seq_len=length, **rest)
    assert counting.score_matrix_size(seq_len=2 * length, **rest) == 4 * once


@given(d=COUNT)
def test_at_the_crossover_attention_costs_what_the_weights_do(d: int) -> None:
    weights = counting.layer_flops(d_model=d, context=0)
    crossover = counting.flops_crossover(d_model=d)
    assert counting.layer_flops(d_model=d, context=crossover) == 2 * weights


@given(d=COUNT, context=COUNT)
def test_layer_flops_add_up_part_by_part(d: int, context: int) -> None:
    weights = 4 * d * d + 2 * d * 4 * d  # four projections, two feed-forward matrices
    products = 2 * context * d  # Q K^T and P V, one multiply-add for each key and width
    assert counting.layer_flops(d_model=d, context=context) == 2 * (weights + products)


@given(h=COUNT, group=COUNT, width=COUNT, tokens=COUNT, bytes_=BYTES)
def test_intensity_is_flops_over_bytes_for_any_length(
    h: int, group: int, width: int, tokens: int, bytes_: int
) -> None:
    kv = h
    heads = h * group
    read = counting.kv_cache_size(
        layers=1, n_kv_heads=kv, head_dim=width, tokens=tokens, batch=1, bytes_per_element=bytes_
    )
    flops = 2 * (2 * heads * tokens * width)
    intensity = counting.decode_intensity(n_heads=heads, n_kv_heads=kv, bytes_per_element=bytes_)
    assert intensity == pytest.approx(flops / read)


@given(gpu=st.integers(1, 800), weights=st.integers(1, 800), per=COUNT, context=COUNT)
def test_the_sequences_that_fit_fit_and_one_more_does_not(
    gpu: int, weights: int, per: int, context: int
) -> None:
    per_token = per * 1024
    count = counting.max_concurrency(
        gpu_gigabytes=gpu,
        weight_gigabytes=weights,
        kv_bytes_per_token=per_token,
        context=context,
    )
    used = weights * 10**9 + count * per_token * context
    assert count == 0 or used <= gpu * 10**9
    assert used + per_token * context > gpu * 10**9 or weights > gpu


@pytest.mark.parametrize("length", [3, 4, 17, 40])
def test_causal_share_is_what_counting_the_pairs_gives(length: int) -> None:
    hidden = sum(key > query for query in range(length) for key in range(length))
    assert counting.causal_fraction(seq_len=length) == pytest.approx(hidden / length**2)


@pytest.mark.parametrize(("layers", "window"), [(1, 4), (3, 1), (3, 4), (5, 2)])
def test_window_reach_is_what_walking_the_layers_gives(layers: int, window: int) -> None:
    last = layers * window
    reached = {last}
    for _ in range(layers):
        reached |= {q - back for q in reached for back in range(window)}
    assert counting.sliding_window_reach(layers=layers, window=window) == len(reached)


def test_spread_of_a_dot_product() -> None:
    assert counting.dot_product_std(head_dim=128) == pytest.approx(11.31, abs=0.005)


def test_saving_of_grouped_queries_is_the_ratio_of_the_caches() -> None:
    def cache(heads: int) -> float:
        return counting.kv_bytes_per_token(
            layers=2, n_kv_heads=heads, head_dim=64, bytes_per_element=2
        )

    assert counting.gqa_saving(n_heads=32, n_kv_heads=8) == cache(32) / cache(8)


def test_more_parameters_than_a_formula_uses_are_ignored() -> None:
    more = {"model": "Llama-3-8B", "n_heads": 32, "hidden": 4096}
    assert counting.kv_bytes_per_token(**LLAMA_3_8B, **more) == 128 * 1024
