"""Questions on a lab's numbers: right answers pass, and other numbers have other right answers."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from grader.labs import LABS, QUESTIONS, asked, results
from grader.labs.document import Result

Data = dict[str, Any]

SECONDS = [1e-4, 4e-4, 1.6e-3]
TIMES = {"scores": SECONDS, "whole": [3 * s for s in SECONDS], "tiled": [4 * s for s in SECONDS]}
WIDE = "bfloat16, sums in float32"


def two(first: float, last: float) -> list[float]:
    return [first, last]


MEASURED: dict[str, Data] = {
    "quadratic": {
        "batch": 1,
        "heads": 4,
        "head_dim": 64,
        "tile": 128,
        "dtype": "float32",
        "sizes": [128, 256, 512],
        "repetitions": [9, 9],
        "unit_seconds": 2e-3,
        "seconds": {**TIMES, "control": SECONDS},
        "standard_errors": {name: [0.0, 0.0, 0.0] for name in TIMES},
        "overhead_seconds": {"scores": 2e-6, "whole": 1e-5, "tiled": 2e-5},
        "held_bytes": {"whole": [6e5, 24e5, 96e5], "tiled": [12e5, 24e5, 48e5]},
        "held_is_all": True,
        "memory_limit_bytes": 4 << 30,
    },
    "prefill-decode": {
        "heads": 32,
        "head_dim": 64,
        "prompt": 1024,
        "cache": 16384,
        "dtype": "float32",
        "repetitions": [9, 9],
        "unit_seconds": 2e-3,
        "roof": {"flops_per_second": 96e9, "bytes_per_second": 24e9},
        "seconds": {
            "prefill-projections": 0.4,
            "prefill-attention": 0.15,
            "prefill-tiled": 0.2,
            "decode-projections": 3.2e-3,
            "decode-attention": 16e-3,
            "control": 16e-3,
        },
        "standard_errors": {
            "prefill-projections": 0.0,
            "prefill-attention": 0.0,
            "prefill-tiled": 0.0,
            "decode-projections": 0.0,
            "decode-attention": 0.0,
        },
    },
    "gqa-intensity": {
        "heads": 32,
        "kv_heads": [1, 8, 32],
        "head_dim": 128,
        "cache": 8192,
        "counted_over": 1024,
        "element_bytes": {"float32": 4, "bfloat16": 2},
        "counted": {
            name: {
                str(n): {"flops": 4 * 32 * 1024 * 128, "bytes": 2 * n * 1024 * 128 * size}
                for n in (1, 8, 32)
            }
            for name, size in (("float32", 4), ("bfloat16", 2))
        },
        "repetitions": [9, 9],
        "unit_seconds": 2e-3,
        "roof": {"flops_per_second": 96e9, "bytes_per_second": 24e9},
        "seconds": {"1": 3e-3, "8": 10e-3, "32": 36e-3, "control": 36e-3},
        "standard_errors": {"1": 0.0, "8": 0.0, "32": 0.0},
    },
    "softmax-saturation": {
        "queries": 64,
        "keys": 512,
        "draws": 24,
        "widths": [16, 1024],
        "score_spread": {"unscaled": two(4.0, 32.0), "scaled": two(1.0, 1.0)},
        "score_spread_errors": {"unscaled": two(0, 0), "scaled": two(0, 0)},
        "largest_probability": {"unscaled": two(0.44, 0.93), "scaled": two(0.027, 0.027)},
        "largest_probability_errors": {"unscaled": two(0, 0), "scaled": two(0, 0)},
    },
    "online-softmax-error": {
        "rows": 32,
        "draws": 6,
        "lengths": [64, 65536],
        "block_size": 16,
        "error_against_length": {
            "blockwise": {
                "float32": two(4e-8, 7e-7),
                "bfloat16": two(2e-3, 0.82),
                "float16": two(3e-4, 0.13),
                WIDE: two(1.4e-3, 1.4e-3),
            },
            "full": {
                "float32": two(4e-8, 4e-8),
                "bfloat16": two(1.4e-3, 1.4e-3),
                "float16": two(2e-4, 2e-4),
            },
        },
        "standard_errors_against_length": {
            "blockwise": dict.fromkeys(("float32", "bfloat16", "float16", WIDE), two(0, 0)),
            "full": dict.fromkeys(("float32", "bfloat16", "float16"), two(0, 0)),
        },
        "block_sizes": [4, 4096],
        "length_of_block_sizes": 16384,
        "error_against_block": {
            "float32": two(7e-7, 4e-8),
            "bfloat16": two(0.7, 2e-3),
            "float16": two(0.1, 3e-4),
        },
        "standard_errors_against_block": dict.fromkeys(
            ("float32", "bfloat16", "float16"), two(0, 0)
        ),
        "unit_roundoff": {"float32": 6e-8, "bfloat16": 3.9e-3, "float16": 4.9e-4},
    },
}


def of(lab: str, data: Data, file: str | None = None, quick: bool = False) -> Result:
    return results.result({"lab": lab, "file": file, "quick": quick, "data": data})


def question(lab: str, id_: str, data: Data) -> dict[str, Any]:
    return next(one for one in of(lab, data).questions if one["id"] == id_)


def verdict(lab: str, id_: str, data: Data, text: str) -> str:
    return str(asked.grade(question(lab, id_, data), text)["verdict"])


# The right answer to MEASURED, worked out by hand; a change of what was measured; what is right
# then, and so was wrong before.
CASES: list[tuple[str, str, str, Callable[[Data], object], str]] = [
    ("quadratic", "doubling", "4",
     lambda d: d["seconds"].update(scores=[1e-4, 8e-4, 64e-4]), "8"),
    ("quadratic", "whole-over-scores", "3",
     lambda d: d["seconds"].update(whole=[3e-4, 12e-4, 9.6e-3]), "6"),
    ("quadratic", "memory-end", "16384", lambda d: d.update(memory_limit_bytes=1 << 30), "8192"),
    ("quadratic", "doubled", "b",
     lambda d: d["held_bytes"].update(whole=[6e5, 12e5, 24e5]), "a"),
    ("quadratic", "doubled", "b",
     lambda d: d["held_bytes"].update(tiled=[6e5, 24e5, 96e5]), "d"),
    ("prefill-decode", "ridge", "4 FLOP/byte",
     lambda d: d["roof"].update(bytes_per_second=12e9), "8 FLOP/byte"),
    ("prefill-decode", "bound", "b",
     lambda d: d["roof"].update(flops_per_second=1e9, bytes_per_second=24e9), "a"),
    ("prefill-decode", "batch", "8", lambda d: d["roof"].update(flops_per_second=24e9), "2"),
    ("prefill-decode", "per-token", "8.192",
     lambda d: d["seconds"].update({"decode-projections": 6.4e-3}), "16.4"),
    ("gqa-intensity", "half", "8",
     lambda d: d["counted"]["bfloat16"]["8"].update(bytes=1024 * 1024), "32"),
    ("gqa-intensity", "eight-bit", "8",
     lambda d: d["counted"]["bfloat16"]["8"].update(bytes=1024 * 1024), "32"),
    ("gqa-intensity", "time", "3.6", lambda d: d["seconds"].update({"8": 20e-3}), "1.8"),
    ("gqa-intensity", "ridge", "a", lambda d: d["roof"].update(bytes_per_second=1e9), "b"),
    ("softmax-saturation", "spread", "8",
     lambda d: d["score_spread"].update(unscaled=[4.0, 16.0]), "4"),
    ("softmax-saturation", "scaled", "1",
     lambda d: d["score_spread"].update(scaled=[1.0, 2.0]), "2"),
    ("softmax-saturation", "sharper", "34.4",
     lambda d: d["largest_probability"].update(scaled=[0.02, 0.05]), "18.6"),
    ("softmax-saturation", "saturation", "a",
     lambda d: d["largest_probability"].update(unscaled=[0.2, 0.4]), "d"),
    ("online-softmax-error", "blocks", "586",
     lambda d: d["error_against_length"]["blockwise"].update(bfloat16=[2e-3, 0.0014]), "1"),
    ("online-softmax-error", "dtypes", "6.3",
     lambda d: d["error_against_length"]["blockwise"].update(float16=[2e-4, 0.41]), "2"),
    ("online-softmax-error", "joins", "1024", lambda d: d.update(length_of_block_sizes=32), "2"),
    ("online-softmax-error", "remedy", "a",
     lambda d: d["error_against_length"]["blockwise"].update(bfloat16=[2e-3, 0.002]), "c"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "id_", "right", "change", "then"), CASES)
def test_the_right_answer_follows_from_what_was_measured(
    lab: str, id_: str, right: str, change: Callable[[Data], object], then: str
) -> None:
    data = copy.deepcopy(MEASURED[lab])
    assert verdict(lab, id_, data, right) == "passed"
    assert verdict(lab, id_, data, then) == "wrong_answer"
    change(data)
    assert verdict(lab, id_, data, then) == "passed"
    assert verdict(lab, id_, data, right) == "wrong_answer"


def test_every_question_of_every_lab_is_tried_above() -> None:
    tried = {(lab, id_) for lab, id_, *_ in CASES}
    assert tried == {(lab, one["id"]) for lab in LABS for one in of(lab, MEASURED[lab]).questions}
    assert len(tried) == QUESTIONS * len(LABS)


@pytest.mark.parametrize("lab", LABS)
def test_what_is_no_answer_is_invalid_and_nothing_is_given_away_before(lab: str) -> None:
    for one in of(lab, MEASURED[lab]).questions:
        assert asked.grade(one, "what?")["verdict"] == "invalid"
        told = asked.public(one)
        assert not {"answer", "tolerance", "because"} & set(told)
        assert "correct" not in str(told)
        graded = asked.grade(one, "what?")
        assert graded["right"]


def number(cell: str) -> float:
    """A cell of a table in its base unit: `38.6 ms`, `0.935 ± 0.003`, `8.20e-01`."""
    found = re.match(r"([\d.,]+(?:e[+-]\d+)?)(?: ([munµ]?)s\b)?", cell)
    assert found, cell
    scale = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}.get(found[2] or "", 1.0)
    return float(found[1].replace(",", "")) * scale


def test_what_is_read_off_the_tables_passes() -> None:
    def cells(lab: str, row: int) -> list[str]:
        return list(of(lab, uneven[lab]).table.rows[row])

    uneven = copy.deepcopy(MEASURED)
    uneven["quadratic"]["seconds"]["whole"][-1] = 7.3519e-3
    uneven["prefill-decode"]["seconds"].update(
        {"prefill-projections": 0.38351, "decode-projections": 3.2249e-3}
    )
    uneven["gqa-intensity"]["seconds"].update({"8": 9.9951e-3, "32": 36.649e-3})
    uneven["softmax-saturation"]["largest_probability"]["unscaled"][-1] = 0.9349
    uneven["softmax-saturation"]["largest_probability"]["scaled"][-1] = 0.02649
    for errors in uneven["softmax-saturation"]["largest_probability_errors"].values():
        errors[-1] = 3e-4
    uneven["online-softmax-error"]["error_against_length"]["full"]["bfloat16"][-1] = 1.3549e-3
    _, scores, whole, *_ = cells("quadratic", -1)
    prefill, decode = (cells("prefill-decode", row)[2] for row in (0, 3))
    some, many = (cells("gqa-intensity", row)[7] for row in (1, 2))
    sharp, flat = cells("softmax-saturation", -1)[3:]
    blockwise, full = (cells("online-softmax-error", -1)[column] for column in (2, 5))
    for lab, id_, read in (
        ("quadratic", "whole-over-scores", number(whole) / number(scores)),
        ("prefill-decode", "per-token", number(decode) / number(prefill) * 1024),
        ("gqa-intensity", "time", number(many) / number(some)),
        ("softmax-saturation", "sharper", number(sharp) / number(flat)),
        ("online-softmax-error", "blocks", number(blockwise) / number(full)),
    ):
        assert verdict(lab, id_, uneven[lab], repr(read)) == "passed", id_


def test_each_dtype_stands_in_the_table_and_the_plot_blockwise_and_full() -> None:
    data = MEASURED["online-softmax-error"]
    found = of("online-softmax-error", data)
    errors = data["error_against_length"]
    for way, names in (("blockwise", "{}"), ("full", "{}, full")):
        for name in ("float32", "bfloat16", "float16"):
            assert f"{errors[way][name][-1]:.2e}" in found.table.rows[-1]
            (series,) = [s for s in found.panels[0].series if s.label == names.format(name)]
            assert list(series.y) == errors[way][name]


def test_an_answer_says_whether_the_right_one_was_measured() -> None:
    origins = {
        one["id"]: asked.grade(one, "?")["origin"]
        for lab in LABS
        for one in of(lab, MEASURED[lab]).questions
    }
    computed = {id_ for id_, origin in origins.items() if origin == "computed"}
    assert computed == {"memory-end", "half", "eight-bit", "joins"}
    options = {id_ for id_, origin in origins.items() if origin == "option"}
    assert options == {"doubled", "bound", "ridge", "saturation", "remedy"}


def test_the_spread_of_scaled_scores_is_told_by_how_far_it_strays() -> None:
    data = copy.deepcopy(MEASURED["softmax-saturation"])
    data["score_spread"]["scaled"] = [0.996, 1.002]
    assert "keeps to 1 within 0.4%" in of("softmax-saturation", data).findings[0]


def test_the_least_time_of_a_step_bends_where_the_roofs_meet() -> None:
    floor = of("gqa-intensity", MEASURED["gqa-intensity"]).panels[1].series[1]
    # 16 FLOP/byte with one head, 4 at the ridge: the peak is the bound up to 4 heads.
    assert list(floor.x) == [1, 4, 32]
    least = 4 * 32 * 8192 * 128 / 96e9
    assert list(floor.y) == pytest.approx([least, least, 8 * least])


def test_an_error_as_measured_widens_what_passes() -> None:
    data = copy.deepcopy(MEASURED["gqa-intensity"])
    assert verdict("gqa-intensity", "time", data, "4") == "wrong_answer"
    data["standard_errors"].update({"8": 0.5e-3})  # a twentieth
    assert verdict("gqa-intensity", "time", data, "4") == "passed"
    assert verdict("gqa-intensity", "time", data, "4.3") == "wrong_answer"


def test_without_a_slope_the_last_two_times_are_asked_for() -> None:
    data = copy.deepcopy(MEASURED["quadratic"])
    data["overhead_seconds"]["scores"] = 1.0
    data["seconds"]["scores"] = [1e-4, 4e-4, 2e-3]
    assert "fitted" not in question("quadratic", "doubling", data)["asks"]
    assert verdict("quadratic", "doubling", data, "5") == "passed"
    assert "no slope" in of("quadratic", data).findings[0]


def test_a_time_that_is_lost_in_the_noise_is_left_out_and_said() -> None:
    data = copy.deepcopy(MEASURED["quadratic"])
    data["seconds"]["whole"][0] = -2e-5
    found = of("quadratic", data, "mine.py")
    assert found.table.rows[0][2] == "-"
    assert found.derived["fitted_sizes"]["whole"] == [256, 512]
    whole = next(s for s in found.panels[0].series if s.label == "mine.py")
    assert list(whole.x) == [256, 512]
    assert "mine.py at S = 128" in found.doubts[0]


def test_what_holds_no_square_has_no_length_at_which_it_ends() -> None:
    data = copy.deepcopy(MEASURED["quadratic"])
    assert of("quadratic", data).derived["longest"]["whole"] == 10829
    data["held_bytes"]["whole"] = [6e5, 12e5, 24e5]
    found = of("quadratic", data, "tiles.py")
    assert found.derived["longest"] == {"scores": 16384, "whole": None}
    assert not any("tiles.py does at" in one for one in found.findings)


def test_a_busy_machine_a_quick_run_and_uncounted_memory_are_doubts() -> None:
    data = copy.deepcopy(MEASURED["quadratic"])
    assert of("quadratic", data).doubts == ()
    data["seconds"]["control"] = [1.3 * s for s in SECONDS]
    data["held_is_all"] = False
    told = " ".join(of("quadratic", data, "numpy_.py", quick=True).doubts)
    for words in ("quick run", "numpy_.py computes outside torch", "too busy"):
        assert words in told


@pytest.mark.parametrize("lab", LABS)
def test_numbers_as_no_lab_writes_them_are_damage_and_no_fault(lab: str) -> None:
    def ruin(value: object, wrong: object) -> object:
        if isinstance(value, dict):
            return {key: ruin(one, wrong) for key, one in value.items()}
        return [ruin(one, wrong) for one in value] if isinstance(value, list) else wrong

    for wrong in ("text", None, float("nan"), float("inf"), 0, [], {}):
        with pytest.raises(results.Damaged):
            of(lab, ruin(MEASURED[lab], wrong))  # type: ignore[arg-type]
    for key in MEASURED[lab]:
        data = copy.deepcopy(MEASURED[lab])
        del data[key]
        if key not in ("dtype", "unit_roundoff"):  # nothing hangs on these
            with pytest.raises(results.Damaged):
                of(lab, data)
