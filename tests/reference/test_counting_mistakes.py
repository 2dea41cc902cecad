"""Each slip gives the number that someone who makes it would give."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions.loader import load_mistakes
from reference import counting
from reference.mistakes import counting as slips

CACHE = {
    "model": "X", "layers": 36, "hidden": 2560, "n_heads": 32, "n_kv_heads": 4, "head_dim": 128,
    "tokens": 5000, "batch": 3, "bytes_per_element": 2,
}  # fmt: skip
SCORES = {"batch": 3, "n_heads": 20, "seq_len": 1000, "bytes_per_element": 4}
WEIGHTS = {"d_model": 2560, "n_heads": 32, "n_kv_heads": 8, "head_dim": 128}
WIDE = {"d_model": 5120, "n_heads": 64, "n_kv_heads": 8, "head_dim": 128}
EXCEEDS = {
    "weight_gigabytes": 16.0, "layers": 32, "n_heads": 32, "n_kv_heads": 8, "head_dim": 128,
    "bytes_per_element": 2,
}  # fmt: skip
INTENSITY = {"n_heads": 32, "n_kv_heads": 8, "bytes_per_element": 1}
FIT = {
    "gpu_gigabytes": 80, "weight_gigabytes": 16.1, "kv_bytes_per_token": 131_072, "context": 8192
}  # fmt: skip
MLA = {"n_heads": 128, "head_dim": 128, "latent_dim": 512, "rope_dim": 64}
FLOPS = {"d_model": 4096, "context": 8192}

CASES: list[tuple[str, str, Mapping[str, Any], float]] = [
    ("k_without_v", "kv_cache_size", CACHE, 36 * 4 * 128 * 5000 * 3 * 2),
    ("extra_factor_two", "kv_cache_size", CACHE, 4 * 36 * 4 * 128 * 5000 * 3 * 2),
    ("query_heads_for_kv_heads", "kv_cache_size", CACHE, 2 * 36 * 32 * 128 * 5000 * 3 * 2),
    ("kv_heads_forgotten", "kv_cache_size", CACHE, 2 * 36 * 128 * 5000 * 3 * 2),
    ("layers_forgotten", "kv_cache_size", CACHE, 2 * 4 * 128 * 5000 * 3 * 2),
    ("batch_forgotten", "kv_cache_size", CACHE, 2 * 36 * 4 * 128 * 5000 * 2),
    ("tokens_forgotten", "kv_cache_size", CACHE, 2 * 36 * 4 * 128 * 3 * 2),
    ("bits_for_bytes", "kv_cache_size", CACHE, 2 * 36 * 4 * 128 * 5000 * 3 * 16),
    ("elements_for_bytes", "kv_cache_size", CACHE, 2 * 36 * 4 * 128 * 5000 * 3),
    ("hidden_over_heads", "kv_cache_size", CACHE, 2 * 36 * 4 * 80 * 5000 * 3 * 2),
    ("row_for_square", "score_matrix_size", SCORES, 3 * 20 * 1000 * 4),
    ("triangle_for_square", "score_matrix_size", SCORES, 3 * 20 * (1000 * 1001 // 2) * 4),
    ("batch_forgotten", "score_matrix_size", SCORES, 20 * 1000**2 * 4),
    ("heads_forgotten", "score_matrix_size", SCORES, 3 * 1000**2 * 4),
    ("bits_for_bytes", "score_matrix_size", SCORES, 3 * 20 * 1000**2 * 32),
    ("kv_projections_as_query", "attention_parameters", WEIGHTS, 4 * 2560 * 4096),
    ("square_projections", "attention_parameters", WIDE, 4 * 5120**2),
    ("output_projection_forgotten", "attention_parameters", WEIGHTS, 2560 * (4096 + 2 * 1024)),
    ("one_kv_projection", "attention_parameters", WEIGHTS, 2560 * (2 * 4096 + 1024)),
    ("hidden_over_heads", "attention_parameters", WEIGHTS, 2 * 2560 * 80 * (32 + 8)),
    ("multiply_add_as_one", "layer_flops", FLOPS, 12 * 4096**2 + 2 * 8192 * 4096),
    ("extra_factor_two", "layer_flops", FLOPS, 48 * 4096**2 + 8 * 8192 * 4096),
    ("ffn_forgotten", "layer_flops", FLOPS, 8 * 4096**2 + 4 * 8192 * 4096),
    ("attention_flops_forgotten", "layer_flops", FLOPS, 24 * 4096**2),
    ("one_attention_product", "layer_flops", FLOPS, 24 * 4096**2 + 2 * 8192 * 4096),
    ("sequence_for_token", "layer_flops", FLOPS, 8192 * (24 * 4096**2 + 4 * 8192 * 4096)),
    ("ffn_only_crossover", "flops_crossover", {"d_model": 4096}, 16_384),
    ("ffn_only_causal_crossover", "flops_crossover", {"d_model": 4096}, 32_768),
    ("causal_half_crossover", "flops_crossover", {"d_model": 4096}, 49_152),
    ("projections_only_crossover", "flops_crossover", {"d_model": 4096}, 8_192),
    ("mixed_multiply_add", "flops_crossover", {"d_model": 4096}, 12_288),
    ("k_without_v", "decode_intensity", INTENSITY, 16),
    ("multiply_add_as_one", "decode_intensity", {**INTENSITY, "bytes_per_element": 4}, 1),
    ("bytes_factor_forgotten", "decode_intensity", {**INTENSITY, "bytes_per_element": 4}, 8),
    ("two_byte_rule", "decode_intensity", INTENSITY, 4),
    ("bits_for_bytes", "decode_intensity", INTENSITY, 1),
    ("query_heads_for_kv_heads", "decode_intensity", INTENSITY, 2),
    ("inverted_ratio", "decode_intensity", INTENSITY, 0.5),
    ("inverted_ratio", "gqa_saving", {"n_heads": 32, "n_kv_heads": 8}, 0.25),
    ("inverted_ratio", "mla_saving", MLA, 576 / 32_768),
    ("k_without_v", "mla_saving", MLA, 16_384 / 576),
    ("rope_part_forgotten", "mla_saving", MLA, 32_768 / 512),
    ("k_without_v", "kv_exceeds_weights", EXCEEDS, 16 * 10**9 // 65_536 + 1),
    ("extra_factor_two", "kv_exceeds_weights", EXCEEDS, 16 * 10**9 // 262_144 + 1),
    ("query_heads_for_kv_heads", "kv_exceeds_weights", EXCEEDS, 16 * 10**9 // 524_288 + 1),
    ("layers_forgotten", "kv_exceeds_weights", EXCEEDS, 16 * 10**9 // 4096 + 1),
    ("bits_for_bytes", "kv_exceeds_weights", EXCEEDS, 16 * 10**9 // 1_048_576 + 1),
    ("gibibyte_weights", "kv_exceeds_weights", EXCEEDS, 16 * 2**30 // 131_072 + 1),
    ("weights_forgotten", "max_concurrency", FIT, 80 * 10**9 // (131_072 * 8192)),
    ("rounded_up", "max_concurrency", FIT, 60),
    ("context_forgotten", "max_concurrency", FIT, 63_900_000_000 // 131_072),
    ("extra_factor_two", "max_concurrency", FIT, 29),
    ("variance_for_std", "dot_product_std", {"head_dim": 64}, 64),
    ("scale_for_std", "dot_product_std", {"head_dim": 64}, 0.125),
    ("diagonal_hidden", "causal_fraction", {"seq_len": 4}, 10 / 16),
    ("half_for_triangle", "causal_fraction", {"seq_len": 4}, 0.5),
    ("layers_forgotten", "sliding_window_reach", {"layers": 4, "window": 512}, 512),
    ("window_power", "sliding_window_reach", {"layers": 2, "window": 512}, 512**2),
    ("two_sided_window", "sliding_window_reach", {"layers": 4, "window": 512}, 4089),
]

FUNCTIONS: dict[str, Callable[[float, Mapping[str, object]], float | None]] = {
    name: function
    for name, function in vars(slips).items()
    if inspect.isfunction(function)
    and not name.startswith("_")
    and function.__module__ == slips.__name__
}
PARAMETERS = {
    "kv_cache_size": CACHE, "kv_bytes_per_token": {**CACHE}, "score_matrix_size": SCORES,
    "gqa_saving": {"n_heads": 32, "n_kv_heads": 8}, "mla_saving": MLA,
    "attention_parameters": WEIGHTS, "layer_flops": FLOPS, "flops_crossover": {"d_model": 4096},
    "decode_intensity": INTENSITY, "kv_exceeds_weights": EXCEEDS, "max_concurrency": FIT,
    "dot_product_std": {"head_dim": 64}, "causal_fraction": {"seq_len": 4},
    "sliding_window_reach": {"layers": 4, "window": 512},
}  # fmt: skip
del PARAMETERS["kv_bytes_per_token"]["tokens"], PARAMETERS["kv_bytes_per_token"]["batch"]


def right(formula: str, parameters: Mapping[str, Any]) -> float:
    return float(getattr(counting, formula)(**parameters))


@pytest.mark.parametrize(("slip", "formula", "parameters", "number"), CASES)
def test_a_slip_gives_its_number(
    slip: str, formula: str, parameters: Mapping[str, Any], number: float
) -> None:
    assert FUNCTIONS[slip](right(formula, parameters), parameters) == pytest.approx(number)


def test_every_slip_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(FUNCTIONS)


def test_every_slip_has_a_text() -> None:
    from questions.loader import DEFAULT_ROOT

    texts = load_mistakes(DEFAULT_ROOT)
    assert {name.replace("_", "-") for name in FUNCTIONS} <= set(texts)


@pytest.mark.parametrize("formula", PARAMETERS)
def test_no_slip_ever_gives_the_right_number(formula: str) -> None:
    answer = right(formula, PARAMETERS[formula])
    numbers = [slip(answer, PARAMETERS[formula]) for slip in FUNCTIONS.values()]
    assert any(number is not None for number in numbers)
    assert all(number is None or number != answer for number in numbers)


@pytest.mark.parametrize(
    ("slip", "answer", "parameters"),
    [
        ("batch_forgotten", 8.0, {"batch": 1}),
        ("query_heads_for_kv_heads", 100.0, {**CACHE, "n_kv_heads": 32}),
        ("hidden_over_heads", 100.0, {**CACHE, "head_dim": 80}),
        ("elements_for_bytes", 100.0, {**CACHE, "bytes_per_element": 1}),
        ("two_byte_rule", 4.0, {**INTENSITY, "bytes_per_element": 2}),
        ("tokens_forgotten", 100.0, {"layers": 3}),
        ("causal_half_crossover", 100.0, WEIGHTS),
        ("multiply_add_as_one", 100.0, CACHE),
        ("diagonal_hidden", 100.0, SCORES),
        ("variance_for_std", 100.0, WEIGHTS),
    ],
)
def test_a_slip_that_changes_nothing_or_does_not_apply_gives_none(
    slip: str, answer: float, parameters: Mapping[str, Any]
) -> None:
    assert FUNCTIONS[slip](answer, parameters) is None


def test_no_two_slips_are_the_same() -> None:
    """Two slips agree on every question that both apply to only if they never both apply."""
    draws = [*PARAMETERS.items(), ("attention_parameters", WIDE)]
    draws += [
        ("decode_intensity", {**INTENSITY, "bytes_per_element": b, "n_heads": h})
        for b in (1, 2, 4)
        for h in (16, 40)
    ]
    signatures: dict[tuple[float | None, ...], str] = {}
    for name, slip in FUNCTIONS.items():
        signature = tuple(slip(right(f, p), p) for f, p in draws)
        assert signature not in signatures, f"{name} and {signatures[signature]}"
        signatures[signature] = name


NAMES = sorted({name for parameters in PARAMETERS.values() for name in parameters})


@settings(max_examples=200, deadline=None)
@given(
    answer=st.floats(0.01, 1e15),
    parameters=st.dictionaries(
        st.sampled_from(NAMES), st.integers(1, 64) | st.just("a name"), max_size=10
    ),
)
def test_no_slip_fails_on_parameters_it_does_not_know(
    answer: float, parameters: dict[str, object]
) -> None:
    for slip in FUNCTIONS.values():
        number = slip(answer, parameters)
        assert number is None or isinstance(number, (int, float))
