"""Kernels that cheat at being measured, on the devices at hand: none is passed for what it is not.

A file of `kernels/` begins with what must come of it: a verdict; `unreliable`, where it passes and
no speed is told; or `charged`, where it passes and the tenth of a second that it burns shows in the
processor time of its calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.session import Grader
from questions.loader import DEFAULT_ROOT, load_file

CHEATS = sorted((Path(__file__).resolve().parent / "kernels").glob("*.py"))
ON_BOTH = ("by_address", "late")
BURNT = 0.1  # seconds a call


def small() -> dict[str, Any]:
    """The question with short lengths: what is tried here does not hang on how long they are."""
    (path,) = DEFAULT_ROOT.glob("*/fused-attention.yaml")
    question: dict[str, Any] = load_file(path).model_dump(mode="json")
    sizes = {"B": 1, "H": 2, "H_kv": 1, "T": 256, "S": 256, "D": 16}
    question["support"] = question["support"][:3]
    question["slope"] |= {"sizes": sizes, "lengths": [64, 128, 256]}
    question["speed"] |= {"sizes": sizes}
    question["paths"] = None
    return question


@pytest.fixture(scope="module", params=(3, 2))
def grader(request: pytest.FixtureRequest) -> Iterator[Grader]:
    with Grader(highest=request.param) as made:
        made.start()
        if made.policy.tier != request.param:
            pytest.skip(f"this machine has no tier {request.param}: {made.policy.lacking}")
        yield made


@pytest.mark.parametrize("cheat", CHEATS, ids=[path.stem for path in CHEATS])
def test_a_kernel_that_cheats_gains_nothing(grader: Grader, cheat: Path) -> None:
    if grader.policy.tier == 2 and cheat.stem not in ON_BOTH:
        pytest.skip("the measuring is the same as on tier 3")
    wanted = cheat.read_text(encoding="utf-8")[2:].partition(":")[0]
    report = grader.grade(small(), cheat.read_bytes(), 7, cheat.name)
    told = report.verdict, report.summary, report.speed
    if wanted not in ("charged", "unreliable"):
        assert report.verdict == wanted, told
        return
    assert report.verdict == "passed", told
    assert report.speed is not None
    if wanted == "charged":
        assert report.speed.cpu_seconds > BURNT, told
    else:
        assert report.speed.tier == "", told
        assert "between its calls" in report.speed.unreliable, told
