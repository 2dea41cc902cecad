"""Submissions that attack the grader or the machine: each ends as it should, and leaves no trace.

A file of `submissions/` begins with the id of its row and the right verdicts (`a|b`; `a@3 b@2`
where tiers differ); a second line may give words of the summary. Places such as {canary} are
filled in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from hostile_harness import HONEST, ROOT, SUBMISSIONS, Attack, Range, question, read
from rows import ROWS, VERDICTS

ATTACKS = [read(path) for path in SUBMISSIONS]
TIERS = {"tier-3": (3, None), "tier-2-abi-2": (2, 2), "tier-2": (2, None)}
WITH_NEWEST = ("A128", "A129", "A132", "A134", "A136", "A138", "A073", "A038", "A068", "A071")
"""Rows in which a newer Landlock does more than an old one: these alone run at tier 2 twice."""

NOT_OF_THE_TIER = {"forbidden", "wrong_answer", "too_costly", "invalid"}
"""Verdicts that the judge comes to, whatever shuts the submission in."""
EVERY_TIER = bool(os.environ.get("DRILL_EVERY_TIER"))  # as `make proof` has it

GRADIENTS, FILLS = "A127", "A014"
SLOW = {"A005": 10.0, "A007": 20.0, "A109": 10.0, "A014": 4.0, "A111": 10.0}  # seconds of the limit

BATCH = "it takes a folder or an archive of many: for the tests of the batch command"
FILES = "a file: test_hostile_files.py"
CUDA = "it needs CUDA: benchmarks/cuda_check.py tries it there, cuda_kernels/ and test_device.py"
TIMED = "a timed stage: test_kernel_cheats.py, and the ladder of speeds in test_kernels.py"
ELSEWHERE = {
    **dict.fromkeys(("A150", "A156", "A157", "A158", "A164", "A166"), BATCH),
    **dict.fromkeys(("A153", "A155", "A159", "A160", "A162"), FILES),
    **dict.fromkeys(("A173", "A174"), "test_bad_days.py of the commands"),
    "A177": "each report carries its tier and what it lacks: test_session.py",
    **dict.fromkeys(("A048", "A067", "A085", "A095", "A120"), CUDA),
    **dict.fromkeys(("A090", "A093", "A175"), TIMED),
    "A013": "a fault of ours: test_isolation_statuses.py, and every honest file as root",
    "A047": "a fault of ours: the session tests its first fork, test_session.py",
    "A176": "a fault of ours: test_honest_tiers.py runs the honest files in each tier",
    **dict.fromkeys(("A167", "A168", "A170"), "a question file: test_hostile_bank.py"),
}


@pytest.fixture(scope="module", params=TIERS)
def place(request: pytest.FixtureRequest) -> Iterator[tuple[str, Range]]:
    tier, abi = TIERS[request.param]
    made = Range(tier, abi)
    try:
        policy = made.grader.policy
        if policy.tier != tier:
            pytest.skip(f"this machine has no tier {tier}: {policy.lacking}")
        assert made.grader.grade(question("stable-softmax"), HONEST.read_bytes()).score == 1
        yield request.param, made
    finally:
        made.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.path.stem for attack in ATTACKS])
def test_an_attack_is_contained(place: tuple[str, Range], attack: Attack) -> None:
    name, range_ = place
    tier = range_.grader.policy.tier
    if tier not in attack.verdicts:
        pytest.skip("it takes long, and is the same as on tier 3")
    if tier == 2 and attack.declared <= NOT_OF_THE_TIER and not EVERY_TIER:
        pytest.skip("what is judged is the same as on tier 3; make proof tries it")
    if name == "tier-2" and attack.row not in WITH_NEWEST:
        pytest.skip("the same as with the older Landlock")
    timeless = attack.declared == {"time_limit"}
    seconds = SLOW.get(attack.row, 1.0 if timeless else 2.0)
    id_ = "attention" if attack.row == GRADIENTS else "stable-softmax"
    asked = question(id_, seconds=seconds)
    before, scratch = range_.state(), set(range_.scratch())
    report, took = range_.grade(attack, asked)
    if took >= seconds + 1 or (report.verdict == "time_limit" and not timeless):
        report, took = range_.grade(attack, asked)  # a busy machine: once more
    verdicts = attack.verdicts[tier]
    told = (report.verdict, report.summary, report.output[-500:], report.traceback)
    assert report.verdict in verdicts, told
    assert (report.score == 1.0) == (report.verdict == "passed")
    assert attack.says in report.summary, told
    assert "a leak" not in report.summary + report.traceback.rpartition("Error: ")[2], told
    assert took < seconds + 1, took
    assert len(json.dumps(report.to_json())) < 100_000
    assert range_.settled(before, range_.state) == before
    assert range_.reached() == []
    # The next honest submission passes, in the same session.
    honest = range_.grader.grade(
        question("stable-softmax"), HONEST.read_bytes(), 7, only_case="one-dimension"
    )
    assert honest.verdict == "passed", (honest.verdict, honest.summary, honest.output)
    if attack.row != FILLS:  # thousands of folders are removed bit by bit, the last at the end
        assert set(range_.scratch()) <= scratch


def test_nothing_is_left_for_the_next_submission(place: tuple[str, Range]) -> None:
    _, range_ = place
    attack = next(a for a in ATTACKS if a.path.stem == "A144_leaves_and_looks")
    for _ in range(2):
        report, _ = range_.grade(attack, question("stable-softmax"))
        assert report.verdict == "passed", report.summary


@pytest.mark.parametrize("when", ["q.requires_grad", "calls > 60", "len(q) > 1000"])
def test_a_refusal_is_noted_in_whichever_stage_it_happens(
    place: tuple[str, Range], when: str
) -> None:
    _, range_ = place
    right = ROOT / "tests" / "honest" / "attention" / "einsum.py"
    before = "import socket\ncalls = 0\n"
    after = f"""
_right = attention

def attention(q, k, v, *rest, **named):
    global calls
    calls += 1
    if {when}:
        try: socket.socket()
        except OSError: pass
    return _right(q, k, v, *rest, **named)
"""
    asked = question("attention")
    within = len(asked["cases"]) * 2  # the values, in each dtype
    source = before + right.read_text() + after.replace("> 60", f"> {within}")
    report = range_.grader.grade(asked, source.encode(), 7, "einsum.py")
    assert report.verdict == "passed", report.summary
    refused = [note for note in report.notes if "open a network connection" in note]
    assert len(refused) == (when != "len(q) > 1000"), report.notes


def test_every_row_is_attacked_here_or_somewhere_else() -> None:
    here = {attack.row for attack in ATTACKS}
    assert not here & set(ELSEWHERE)
    assert here | set(ELSEWHERE) == set(ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if row not in ELSEWHERE])
def test_the_verdicts_that_files_declare_are_those_of_the_row(row: str) -> None:
    declared = frozenset().union(*(a.declared for a in ATTACKS if a.row == row))
    for outcome in ROWS[row]:
        assert declared & VERDICTS[outcome], (row, outcome, sorted(declared))
