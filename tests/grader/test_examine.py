"""What `drill doctor` attacks: blocked where a tier says so, and open where nothing blocks it."""

from __future__ import annotations

import pytest

from grader.isolation.examine import PROBES, examine, handlers
from grader.session import Grader

BENEATH = {  # what is blocked without a sandbox too
    "read drill's own source",  # by Python's own refusal
    "read another process's environment",  # as root, for want of its powers
    "read another process's memory",
    "trace another process",
    "leave a process behind",
    "use more memory than the limit",
    "fill its folder",
    "start threads without end",
    "print without end",
    "run without end",
}


@pytest.mark.parametrize("highest", [3, 2])
def test_no_layer_that_is_claimed_is_open(highest: int) -> None:
    with Grader(handlers(), highest=highest) as grader:
        findings = examine(grader)
        tier = grader.policy.tier
    if tier < 2:
        pytest.skip(grader.policy.lacking)
    assert [f.probe for f in findings] == list(PROBES)
    assert [f.probe for f in findings if f.state == "OPEN"] == (
        ["learn that a file exists"] if tier == 2 else []
    )
    assert all(f.holds for f in findings)


def test_every_probe_gets_through_where_nothing_blocks_it() -> None:
    """Otherwise it would prove nothing where it does not."""
    with Grader(handlers(), highest=0) as grader:
        findings = examine(grader)
    assert {f.probe for f in findings if f.state == "blocked"} <= BENEATH
    assert all(f.holds for f in findings)


def test_a_probe_that_fails_without_a_sandbox_too_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = {"read a file": (2, "open(file + '-that-is-not-there').read()")}
    right = {"list a folder": PROBES["list a folder"]}
    monkeypatch.setattr("grader.isolation.examine.PROBES", {**odd, **right})
    with Grader(handlers()) as grader:
        findings = examine(grader)
        states = {f.probe: f.state for f in findings}
        blocked = "blocked" if grader.policy.tier > 1 else "OPEN"
    assert states == {"read a file": "untestable", "list a folder": blocked}
