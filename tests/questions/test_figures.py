"""Every figure quoted in the prose of the answer questions is computed here, not believed.

A figure is a number with a decimal point, or of three digits or more. `FIGURES` holds what is
quoted, word for word, and how it comes out; whatever else looks like a figure has to be a plain
size listed in `GIVEN`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import questions
from questions.loader import load_file
from reference import by_hand, counting, models

ROOT = Path(questions.__file__).parent
MODELS: dict[str, Any] = models.load()
HAND = by_hand.attention_by_hand()
H100 = 989.4e12 / 3.35e12  # dense bf16 FLOP/s and bytes/s of the H100 SXM data sheet


def cache(model: str, bytes_per_element: int = 2, **changed: int) -> dict[str, Any]:
    row = MODELS[model]
    sizes = {"layers": row["layers"], "n_kv_heads": row["kv_heads"], "head_dim": row["head_dim"]}
    return {**sizes, "bytes_per_element": bytes_per_element, **changed}


def per_token(model: str) -> float:
    return counting.kv_bytes_per_token(**cache(model))


def sequence(model: str, tokens: int, batch: int = 1) -> float:
    return counting.kv_cache_size(tokens=tokens, batch=batch, **cache(model))


def scores(tokens: int) -> float:
    return counting.score_matrix_size(batch=8, n_heads=32, seq_len=tokens, bytes_per_element=2)


def weights_gb(model: str) -> float:
    return 2 * MODELS[model]["params_computed"] / 1e9


def exceeds(**changed: int) -> int:
    name = "Llama-3-8B"
    return counting.kv_exceeds_weights(weight_gigabytes=weights_gb(name), **cache(name, **changed))


def parameters(model: str) -> int:
    row = MODELS[model]
    return counting.attention_parameters(
        d_model=row["hidden"],
        n_heads=row["heads"],
        n_kv_heads=row["kv_heads"],
        head_dim=row["head_dim"],
    )


def share(part: float) -> float:
    """Percent of a layer's 24 d^2 + 4 T d at T = d, the part given in units of d^2."""
    return 100 * part * 4096**2 / counting.layer_flops(d_model=4096, context=4096)


def intensity(bytes_per_element: int, model: str = "Llama-3-8B") -> float:
    row = MODELS[model]
    return counting.decode_intensity(
        n_heads=row["heads"], n_kv_heads=row["kv_heads"], bytes_per_element=bytes_per_element
    )


def row_text(matrix: list[list[float]], i: int) -> str:
    return "[" + ", ".join(f"{x:.3f}" for x in matrix[i]) + "]"


Computed = Callable[[], str]
KIB, GIB = 2**10, 2**30
E1, E2 = math.exp(1 / math.sqrt(2)), math.exp(math.sqrt(2))

FIGURES: dict[str, dict[str, Computed]] = {
    "derive-sqrt-dk": {
        "one standard deviation of an unscaled score is 11.3.": lambda: (
            "one standard deviation of an unscaled score is "
            f"{counting.dot_product_std(head_dim=128):.1f}."
        ),
        "about 82,000": lambda: (
            f"about {round(math.exp(counting.dot_product_std(head_dim=128)), -3):,.0f}"
        ),
    },
    "derive-softmax-jacobian": {
        "At p_i = 0.5 the diagonal entry is 0.25": lambda: (
            f"At p_i = 0.5 the diagonal entry is {0.5 * (1 - 0.5)}"
        ),
        "at p_i = 0.99 it is 0.0099": lambda: f"at p_i = 0.99 it is {0.99 * (1 - 0.99):.4f}",
    },
    "derive-decode-intensity": {
        "about 295 FLOPs": lambda: f"about {H100:.0f} FLOPs",
        "64 query heads on 8 key/value heads do 8": lambda: (
            "64 query heads on 8 key/value heads do "
            f"{counting.decode_intensity(n_heads=64, n_kv_heads=8, bytes_per_element=2):.0f}"
        ),
    },
    "attention-by-hand": {
        "sqrt(2), which is about 1.414": lambda: f"sqrt(2), which is about {math.sqrt(2):.3f}",
        "A score of 1 becomes 0.707, a score of 2 becomes 1.414": lambda: (
            f"A score of 1 becomes {HAND['scaled'][0][0]:.3f}, "
            f"a score of 2 becomes {HAND['scaled'][2][2]:.3f}"
        ),
        "scaled scores 0 and 0.707": lambda: f"scaled scores 0 and {HAND['scaled'][1][1]:.3f}",
        "exp(0) = 1, exp(0.707) = 2.028 and exp(1.414) = 4.113": lambda: (
            f"exp(0) = 1, exp(0.707) = {E1:.3f} and exp(1.414) = {E2:.3f}"
        ),
        "1/3.028 and 2.028/3.028": lambda: f"1/{1 + E1:.3f} and {E1:.3f}/{1 + E1:.3f}",
        "2.028, 2.028 and 4.113 by their sum, 8.169": lambda: (
            f"{E1:.3f}, {E1:.3f} and {E2:.3f} by their sum, {2 * E1 + E2:.3f}"
        ),
        "1 + 2 · 2.028 = 5.056": lambda: f"1 + 2 · {E1:.3f} = {1 + 2 * E1:.3f}",
        "Row 1 is [2.340, 3.340]": lambda: f"Row 1 is {row_text(HAND['output-causal'], 1)}",
        "Row 2 is [3.510, 4.510] with or without the mask": lambda: (
            f"Row 2 is {row_text(HAND['output-full'], 2)} with or without the mask"
        ),
        "Without the mask, row 0 becomes [3, 4]": lambda: (
            f"Without the mask, row 0 becomes {[round(x, 9) for x in HAND['output-full'][0]]}"
        ).replace(".0", ""),
    },
    "kv-bytes-per-token": {
        "takes 512 KiB": lambda: f"takes {per_token('Llama-2-7b-hf') / KIB:.0f} KiB",
        "Llama-3-8B takes 128 KiB": lambda: (
            f"Llama-3-8B takes {per_token('Llama-3-8B') / KIB:.0f} KiB"
        ),
        "heads, 320 KiB": lambda: f"heads, {per_token('Llama-3-70B') / KIB:.0f} KiB",
        "a model width of 2,560 and 32 query heads, but its heads are 128 wide, not 80": lambda: (
            "a model width of {hidden:,} and {heads} query heads, "
            "but its heads are {head_dim} wide, not {ratio}"
        ).format(
            **MODELS["Qwen3-4B"],
            ratio=MODELS["Qwen3-4B"]["hidden"] // MODELS["Qwen3-4B"]["heads"],
        ),
    },
    "kv-cache-size": {
        "2³⁰ = 1,073,741,824": lambda: f"2³⁰ = {GIB:,}",
        "131,072 bytes a token, which is exactly 128 KiB": lambda: (
            f"{per_token('Llama-3.1-8B'):,} bytes a token, "
            f"which is exactly {per_token('Llama-3.1-8B') / KIB:g} KiB"
        ),
        "At 32,768 tokens that is 4.29 GB, or 4 GiB": lambda: (
            f"At 32,768 tokens that is {sequence('Llama-3.1-8B', 32768) / 1e9:.2f} GB, "
            f"or {sequence('Llama-3.1-8B', 32768) / GIB:g} GiB"
        ),
        "ten such users need 42.9 GB": lambda: (
            f"ten such users need {sequence('Llama-3.1-8B', 32768, 10) / 1e9:.1f} GB"
        ),
    },
    "kv-exceeds-weights": {
        "8.03 billion weights take 16.06 GB": lambda: (
            f"{MODELS['Llama-3-8B']['params_computed'] / 1e9:.2f} billion weights "
            f"take {weights_gb('Llama-3-8B'):.2f} GB"
        ),
        "a token takes 131,072 bytes": lambda: f"a token takes {per_token('Llama-3-8B'):,} bytes",
        "at 122,533 tokens": lambda: f"at {exceeds():,} tokens",
        "At the full 131,072 tokens the cache is 17.18 GB, which is exactly 16 GiB": lambda: (
            "At the full 131,072 tokens the cache is "
            f"{sequence('Llama-3-8B', 131072) / 1e9:.2f} GB, "
            f"which is exactly {sequence('Llama-3-8B', 131072) / GIB:g} GiB"
        ),
        "An FP8 cache doubles the number": lambda: (
            "An FP8 cache doubles the number"
            if abs(exceeds(bytes_per_element=1) - 2 * exceeds()) <= 1
            else ""
        ),
        "with 32 key/value heads, it would fall to a quarter, 30,634 tokens": lambda: (
            "with 32 key/value heads, it would fall to a quarter, "
            f"{exceeds(n_kv_heads=32):,} tokens"
        ),
        "with 16 sequences the same point is reached at 7,659 tokens": lambda: (
            "with 16 sequences the same point is reached at "
            f"{exceeds(layers=16 * MODELS['Llama-3-8B']['layers']):,} tokens"
        ),
    },
    "score-matrix-size": {
        "134 MB at 512 tokens and 34.36 GB (32 GiB) at 8,192": lambda: (
            f"{scores(512) / 1e6:.0f} MB at 512 tokens and "
            f"{scores(8192) / 1e9:.2f} GB ({scores(8192) / GIB:g} GiB) at 8,192"
        ),
        "16 times the tokens, 256 times the memory": lambda: (
            f"{8192 // 512} times the tokens, {scores(8192) / scores(512):g} times the memory"
        ),
    },
    "attention-parameters": {
        "41.9M weights a layer where `4 d²` says 67.1M": lambda: (
            f"{parameters('Llama-3-8B') / 1e6:.1f}M weights a layer "
            f"where `4 d²` says {4 * MODELS['Llama-3-8B']['hidden'] ** 2 / 1e6:.1f}M"
        ),
        "together are 4,096 wide while the model is 2,560 wide": lambda: (
            f"together are {MODELS['Qwen3-4B']['heads'] * MODELS['Qwen3-4B']['head_dim']:,} "
            f"wide while the model is {MODELS['Qwen3-4B']['hidden']:,} wide"
        ),
        "32 heads of 128 cost as much as 16 of 256": lambda: (
            f"32 heads of 128 cost as much as 16 of {32 * 128 // 16}"
        ),
    },
    "flops-crossover": {
        "24,576 tokens for d = 4,096": lambda: (
            f"{counting.flops_crossover(d_model=4096):,} tokens for d = 4,096"
        ),
        "For d = 4,096 the feed-forward layer alone meets the full square at `4 d`, "
        "16,384 tokens": lambda: (
            "For d = 4,096 the feed-forward layer alone meets the full square at `4 d`, "
            f"{16 * 4096**2 // (4 * 4096):,} tokens"
        ),
        "`8 d` = 32,768": lambda: f"`8 d` = {16 * 4096**2 // (2 * 4096):,}",
        "`12 d` = 49,152": lambda: f"`12 d` = {24 * 4096**2 // (2 * 4096):,}",
    },
    "decode-intensity": {
        "it is 4 FLOP/byte in bf16 and 8 in FP8": lambda: (
            f"it is {intensity(2):g} FLOP/byte in bf16 and {intensity(1):g} in FP8"
        ),
        "about 295 FLOP/byte": lambda: f"about {H100:.0f} FLOP/byte",
        "an intensity of 16 leaves about 95%": lambda: (
            f"an intensity of 16 leaves about {100 * (1 - 16 / H100):.0f}%"
        ),
    },
    "choice-flop-bottleneck": {
        "about 14%": lambda: f"about {share(4):.0f}%",
        "about 29%": lambda: f"about {share(8):.0f}%",
        "about 57%": lambda: f"about {share(16):.0f}%",
        "about 29%, 57% and 14%": lambda: (
            f"about {share(8):.0f}%, {share(16):.0f}% and {share(4):.0f}%"
        ),
        "At T = d = 4,096": lambda: "At T = d = 4,096",
        "24,576 tokens": lambda: f"{counting.flops_crossover(d_model=4096):,} tokens",
    },
    "choice-decode-bound": {
        "about 295": lambda: f"about {H100:.0f}",
        "between 1 and perhaps 16": lambda: (
            f"between {intensity(2, 'Llama-2-7b-hf'):g} and perhaps "
            f"{intensity(2, 'Llama-3.1-405B'):g}"
        ),
    },
    "choice-score-memory": {
        "256 times as large": lambda: f"{scores(8192) / scores(512):g} times as large",
        "16² = 256": lambda: f"16² = {16**2}",
        "from 134 MB to 34.36 GB": lambda: (
            f"from {scores(512) / 1e6:.0f} MB to {scores(8192) / 1e9:.2f} GB"
        ),
        "to 1.07 GB in this layer": lambda: (
            f"to {sequence('Llama-2-7b-hf', 8192, 8) / 32 / 1e9:.2f} GB in this layer"
        ),
        "8,192 / 512 = 16": lambda: f"8,192 / 512 = {8192 // 512}",
        "At 512 tokens that is 134 MB": lambda: f"At 512 tokens that is {scores(512) / 1e6:.0f} MB",
        "At 8,192 it is 34.36 GB": lambda: f"At 8,192 it is {scores(8192) / 1e9:.2f} GB",
        "68.7 GB for two": lambda: f"{2 * scores(8192) / 1e9:.1f} GB for two",
    },
}

GIVEN = {
    "derive-sqrt-dk": {"128"},
    "choice-rope-and-cache": {"100"},
    "choice-flop-bottleneck": {"128"},
    "choice-kv-heads": {"128"},
}
CHOICE_WITHOUT_FIGURES = {p.stem for p in ROOT.glob("*/choice-*.yaml")} - set(FIGURES)
FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{3,}")
# Names that hold digits are no figures.
NAMED = re.compile(r"\b(?:(?:Llama|Qwen|Gemma|Mixtral|Mistral|Phi)-?[\d.]*(?:-\w+)*|H100)")


def texts(id_: str) -> str:
    """All prose of a question after its prompt, whitespace made single spaces."""
    (path,) = ROOT.glob(f"*/{id_}.yaml")
    question = load_file(path)
    parts = [question.explanation, *question.hints]
    if question.kind == "choice":
        parts += [t for o in question.options for t in (o.text, o.explanation)]
    if question.kind == "derive":
        parts += [m.says for step in question.steps for m in step.mistakes]
    if question.kind == "trace":
        parts += [m.says for m in question.mistakes] + [p.step for p in question.parts]
    return " ".join(" ".join(parts).split())


@pytest.mark.parametrize(
    ("id_", "quoted"), [(id_, quoted) for id_, found in FIGURES.items() for quoted in found]
)
def test_a_quoted_figure_is_what_the_reference_computes(id_: str, quoted: str) -> None:
    assert quoted in texts(id_)
    assert FIGURES[id_][quoted]() == quoted


@pytest.mark.parametrize("id_", sorted({*FIGURES, *CHOICE_WITHOUT_FIGURES}))
def test_no_figure_is_left_unchecked(id_: str) -> None:
    text = texts(id_)
    for quoted in FIGURES.get(id_, {}):
        text = text.replace(quoted, " ")
    text = NAMED.sub(" ", text)
    assert set(FIGURE.findall(text)) - GIVEN.get(id_, set()) == set()
