"""The interview's clock."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from drills.mock.timer import Timer, kept, shown


class Wall:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 500)), max_size=20))
def test_only_what_passes_while_it_runs_is_counted(spans: list[tuple[bool, float]]):
    wall = Wall()
    timer = Timer(3600.0, 10.0, None, wall)
    counted = 10.0
    for runs, seconds in spans:
        if runs:
            timer.go()
            counted += seconds
        else:
            timer.stop()
        wall.now += seconds
        assert abs(timer.used - counted) < 1e-6
    assert abs(timer.left - (3600.0 - counted)) < 1e-6


def test_warnings_come_once_at_five_minutes_and_at_one():
    wall = Wall()
    timer = Timer(45 * 60.0, 0.0, None, wall)
    timer.go()
    heard = []
    for _ in range(46 * 6):
        wall.now += 10.0
        heard.append((timer.tick(), timer.left))
    told = [(words, left) for words, left in heard if words]
    assert [words for words, _ in told] == ["5 minutes left.", "1 minute left."]
    assert [left for _, left in told] == [300.0, 60.0]


def test_one_that_goes_on_late_does_not_warn_of_what_is_past():
    timer = Timer(45 * 60.0, 45 * 60.0 - 100, None, Wall())
    assert timer.tick() == ""
    timer = Timer(45 * 60.0, 45 * 60.0 - 30, None, Wall())
    assert timer.tick() == ""


def test_the_seconds_outlive_a_kill_to_within_two(tmp_path: Path):
    file, wall = tmp_path / "deep" / "x.seconds", Wall()
    timer = Timer(3600.0, 0.0, file, wall)
    timer.go()
    for _ in range(95):
        wall.now += 0.5
        timer.tick()
    # killed here: nothing is written any more
    assert 45.5 <= kept(file, 10.0, 100.0) <= 47.5
    assert kept(file, 60.0, 100.0) == 60.0  # an older file than the last event
    assert kept(file, 10.0, 20.0) == 10.0  # more than can have passed since
    file.write_text("nonsense")
    assert kept(file, 10.0, 100.0) == 10.0
    assert kept(tmp_path / "none", 10.0, 100.0) == 10.0


def test_a_clock_is_read_as_minutes_and_seconds():
    assert [shown(s) for s in (0, 59.4, 60, 725, 5400, -3)] == [
        "0:00", "0:59", "1:00", "12:05", "90:00", "0:00",
    ]  # fmt: skip
