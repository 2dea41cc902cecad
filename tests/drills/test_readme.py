"""The first ten minutes of README.md, line by line, as a newcomer would type them."""

from __future__ import annotations

import shlex

from conftest import ROOT, Drill

WRONG = "def attention(q, k, v, mask=None):\n    return v\n"


def test_the_first_ten_minutes_of_the_readme_work_as_written(drill: Drill):
    (drill.work / "drills").mkdir()
    (drill.work / "drills" / "workspace.py").touch()  # as in a checkout
    section = (ROOT / "README.md").read_text().partition("## The first ten minutes")[2]
    lines = section.split("```")[1].strip().splitlines()
    typed = [line.partition("    ")[0].strip() for line in lines]
    assert {"drill list", "drill grade", "drill next", "drill stats"} <= set(typed)
    for command in typed:
        program, *arguments = shlex.split(command)
        if program == "$EDITOR":
            path = drill.work / arguments[0]
            assert "raise NotImplementedError" in path.read_text()
            path.write_text(WRONG)
            continue
        ran = drill(*arguments)
        wrong = arguments[0] in ("grade", "answer")
        assert ran.code == int(wrong), (command, ran.err)
        assert "wrong answer" in ran.out or not wrong
        if arguments[0] != "solution":  # the code of the reference goes up to 100
            assert max(map(len, ran.out.splitlines())) <= 80, command
