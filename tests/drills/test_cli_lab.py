"""`drill lab` as a learner runs it: small sizes, real processes. No time is asserted."""

from __future__ import annotations

import copy
import json
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import Drill, Ran, _environment

from drills import lab_runs
from drills.lab_runs import Run
from drills.screen.plot import plot
from grader.labs import results
from grader.session import Grader

LABS = (
    "quadratic",
    "prefill-decode",
    "gqa-intensity",
    "softmax-saturation",
    "online-softmax-error",
)
AXES = {
    "quadratic": "sequence length S (tokens)",
    "prefill-decode": "arithmetic intensity (FLOP per byte)",
    "gqa-intensity": "KV heads h_kv (count)",
    "softmax-saturation": "head width d_k (entries)",
    "online-softmax-error": "row length N (entries)",
}
RIGHT = """import torch
def attention(q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("bhts,bhsd->bhtd", scores.softmax(-1), v)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Drill:
    """One home for all: matplotlib's list of fonts is made once."""
    home, work = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work")
    return Drill(home, work, _environment(home))


@pytest.fixture(scope="module")
def runs(lab: Drill) -> dict[str, Run]:
    """Each lab, measured once, by one process that imports torch; its files in a folder of its
    name."""
    found = {}
    with pytest.MonkeyPatch.context() as patch, Grader() as grader:
        patch.setenv("DRILL_HOME", str(lab.home))
        patch.setenv("MPLCONFIGDIR", str(lab.home / "cache" / "matplotlib"))
        for name in LABS:
            run = lab_runs.new(name, None, 7, True, grader.lab(name, 7, True))
            folder, result = lab_runs.Folder(name, lab.work / name), results.result(run)
            found[name] = json.loads(folder.write(run, result).read_text())
            folder.draw(run, result)
    return found


def measure(lab: Drill, name: str, *more: str, **keywords: Any) -> Ran:
    return lab("lab", name, "--quick", "--seed", "7", *more, **keywords)


def again(lab: Drill, name: str, *more: str, **keywords: Any) -> Ran:
    """The run of `runs`, read from its file."""
    return lab("lab", "--from", f"{name}/{name}.json", *more, **keywords)


def events(lab: Drill, name: str) -> list[dict[str, Any]]:
    exported = lab("export").json["events"]
    return [event for event in exported if event["question"] == f"lab/{name}"]


def saturation_answers(data: dict[str, Any]) -> list[str]:
    """What the table of softmax-saturation says."""
    spread, largest = data["score_spread"], data["largest_probability"]
    growth = spread["unscaled"][-1] / spread["unscaled"][0]
    sharper = largest["unscaled"][-1] / largest["scaled"][-1]
    return [f"{growth:.3g}", f"{spread['scaled'][-1]:.3g}", f"{sharper:.3g}", "a"]


@pytest.mark.parametrize("name", LABS)
def test_each_lab_gives_numbers_pictures_and_questions(lab: Drill, runs: dict[str, Run], name: str):
    found, out = runs[name], lab.work / name
    assert (found["format"], found["lab"], found["seed"], found["quick"]) == (1, name, 7, True)
    assert (found["file"], found["isolation"]) == (None, [])
    assert found["data"]
    assert found["derived"]
    assert found["findings"]
    assert len(found["questions"]) == 4
    assert all({"id", "kind", "asks"} <= set(question) for question in found["questions"])
    assert not any("answer" in question for question in found["questions"])
    png = (out / f"{name}.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    assert 900 <= width <= 2400
    assert 600 <= height <= 1200
    words = " ".join(ElementTree.parse(out / f"{name}.svg").getroot().itertext())
    assert found["title"] in words
    assert AXES[name] in words


@pytest.mark.parametrize("name", LABS)
def test_a_run_of_before_shows_its_page_and_asks_the_same(
    lab: Drill, runs: dict[str, Run], name: str
):
    assert again(lab, name, "--json").json == {**runs[name], "answers": [], "files": []}
    ran = again(lab, name, COLUMNS="80")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in ran.out
    assert runs[name]["title"] in ran.out
    assert AXES[name] in ran.out
    assert "4 questions" in lines[-2]
    assert lines[-1] == f" Next  drill lab --from {name}/{name}.json"
    assert lab("lab", name, "--from", name, COLUMNS="80").out.splitlines()[:-1] == lines[:-1]


def test_a_run_prints_what_its_file_holds_and_is_remembered(lab: Drill):
    ran = measure(lab, "softmax-saturation", "--json", "--out", "new/folder")
    assert (ran.code, ran.err) == (0, "")  # no progress bar off a terminal
    out = lab.work / "new" / "folder" / "softmax-saturation"
    found = ran.json
    assert found.pop("files") == [
        str(out.with_suffix(f".{kind}")) for kind in ("png", "svg", "json")
    ]
    assert found.pop("answers") == []
    assert json.loads(out.with_suffix(".json").read_text()) == found
    measured = [e for e in events(lab, "softmax-saturation") if e["name"] == "measured"]
    (detail,) = [e["detail"] for e in measured if e["detail"]["run"] == found["run"]]
    assert detail["folder"] == str(out.parent)
    assert measured[-1]["seed"] == 7


def test_a_file_of_ones_own_is_measured_in_the_sandbox_and_asked_about_later(lab: Drill):
    (lab.work / "mine.py").write_text(RIGHT)
    ran = measure(lab, "quadratic", "mine.py", COLUMNS="80")
    assert ran.code == 0, ran.err
    assert "whole attention is mine.py" in ran.out
    assert "Isolation tier" in ran.out
    (folder,) = (lab.home / "labs").glob("quadratic-*")
    assert {path.suffix for path in folder.iterdir()} == {".png", ".svg", ".json"}
    kept = json.loads((folder / "quadratic.json").read_text())
    assert kept["file"] == "mine.py"
    assert kept["isolation"][0].startswith("tier ")
    lines = ran.out.splitlines()
    assert lines[-1] == f" Next  drill lab --from {folder.name}"
    page, _, _ = ran.out.partition(" Wrote ")
    later = lab("lab", "--from", folder.name, COLUMNS="80")
    assert later.code == 0
    assert later.out.startswith(page)
    assert later.out.splitlines()[-1] == lines[-1]


def test_a_terminal_without_utf_8_gets_plain_signs(lab: Drill, runs: dict[str, Run]):
    for name in LABS:
        ran = again(lab, name, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
        assert ran.code == 0, ran.err
        assert ran.out.isascii()
        assert "?" not in ran.out.partition("Next")[0]


def test_answers_are_graded_and_remembered(lab: Drill, runs: dict[str, Run], tmp_path: Path):
    name = "softmax-saturation"
    run = runs[name]
    right = saturation_answers(run["data"])
    file = tmp_path / "answers.txt"
    file.write_text("\n\n".join(right))
    ran = again(lab, name, "--answers", str(file))
    assert ran.code == 0, ran.out
    assert "4 of 4 right" in ran.out
    assert ran.out.count(" ✓ Right.") == 4
    assert ran.out.splitlines()[-1] == " Next  drill lab"
    wrong = f"{float(right[0]) ** 2:.3g}\nabout 1\nno idea\nb\n"
    ran = again(lab, name, "--answers", "-", "--json", stdin=wrong)
    assert ran.code == 1
    verdicts = [one["verdict"] for one in ran.json["answers"]]
    assert verdicts == ["wrong_answer", "passed", "invalid", "wrong_answer"]
    assert all(one["right"] and one["message"] for one in ran.json["answers"])
    answered = [event for event in events(lab, name) if event["name"] == "answered"]
    assert [event["detail"]["verdict"] for event in answered] == ["passed"] * 4 + verdicts
    assert {event["detail"]["run"] for event in answered} == {run["run"]}
    assert [event["detail"]["given"] for event in answered[:4]] == right
    kept = json.loads((lab.work / name / f"{name}.json").read_text())
    assert "answers" not in kept  # the file stays as it was measured


def test_other_numbers_in_the_file_have_other_right_answers(
    lab: Drill, runs: dict[str, Run], tmp_path: Path
):
    run = copy.deepcopy(runs["softmax-saturation"])
    right = saturation_answers(run["data"])
    run["data"]["score_spread"]["unscaled"][-1] *= 2
    (tmp_path / "run.json").write_text(json.dumps(run))
    graded = lab("lab", "--from", str(tmp_path), "--answers", "-", stdin="\n".join(right))
    assert "There is no run" in graded.err
    graded = lab("lab", "--from", str(tmp_path / "run.json"), "--answers", "-", "--json",
                 stdin="\n".join(right))  # fmt: skip
    verdicts = [one["verdict"] for one in graded.json["answers"]]
    assert verdicts == ["wrong_answer", "passed", "passed", "passed"]


def test_the_list_shows_how_one_stands(
    make_drill: Callable[[str], Drill], lab: Drill, runs: dict[str, Run]
):
    drill = make_drill("other")
    listed = drill("lab").out.splitlines()
    for name in LABS:
        (line,) = [line for line in listed if line.startswith(f" {name} ")]
        assert line.endswith("new")
    assert max(map(len, listed)) <= 80
    assert "…" not in drill("lab").out
    assert listed[-1] == " Next  drill lab quadratic"
    text = "\n".join([*saturation_answers(runs["softmax-saturation"]["data"])[:3], "b"])
    path = str(lab.work / "softmax-saturation")
    ran = drill("lab", "--from", path, "--answers", "-", stdin=text)
    assert ran.code == 1
    told = " ".join(ran.out.split())
    assert " ✗ The right one: a) Of the unscaled scores alone. Measured: 0." in told
    assert ".." not in told
    assert drill("lab", "--from", path, "--answers", "-", stdin="none\n" * 4).code == 1
    listed = drill("lab", COLUMNS="80").out
    assert "best 3 of 4 right" in listed  # a later slip takes nothing away
    assert "…" not in listed
    (row,) = [r for r in drill("lab", "--json").json["labs"] if r["name"] == "softmax-saturation"]
    assert (row["questions"], row["right"], row["runs"], row["last_run"]) == (4, 3, 0, None)
    (drill.work / "all.json").write_text(drill("export").out)
    third = make_drill("third")
    assert third("import", str(drill.work / "all.json")).code == 0
    assert "3 of 4 right" in third("lab").out
    assert third("next", "--json").json["reason"] == "new"  # labs are no problems of the schedule


def test_a_file_that_cannot_be_measured_is_one_sentence_and_leaves_nothing(lab: Drill):
    (lab.work / "broken.py").write_text("def attention(q, k, v, mask=None): return v\n")
    ran = measure(lab, "quadratic", "broken.py", "--out", "never/ever")
    assert (ran.code, ran.out) == (1, "")
    assert "broken.py returns other values than `attention` should" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (lab.work / "never").exists()


def test_what_cannot_be_done_is_said_before_anything_is_measured(lab: Drill, runs: dict[str, Run]):
    (lab.work / "file").write_text("")
    for arguments, code, told in (
        (("quadratic", "--out", "file"), 4, "cannot be written"),
        (("quadratic", "--out", "file/deeper"), 4, "--out"),
        (("quadratc",), 2, "Did you mean quadratic?"),
        (("nothing",), 2, "drill lab lists them"),
        (("gqa-intensity", "mine.py"), 2, "measures no file"),
        (("quadratic", "missing.py"), 2, "There is no file missing.py"),
        (("quadratic", "--answers", "missing"), 2, "missing cannot be read"),
        (("quadratic", "--answers", "file"), 2, "4 answers are needed"),
        (("quadratic", "--seed", "-1"), 2, "no whole number"),
        (("--quick",), 2, "Which lab?"),
        (("--from", "quadratic", "--quick"), 2, "leave out"),
        (("prefill-decode", "--from", "quadratic/quadratic.json"), 2, "is a run of quadratic"),
        (("quadratic", "--from", "prefill-decode"), 2, "There is no run of quadratic in"),
    ):
        ran = lab("lab", *arguments)
        assert (ran.code, ran.out) == (code, ""), arguments
        assert told in ran.err, arguments
        assert "Traceback" not in ran.err


def test_a_file_that_is_no_run_is_refused_in_one_sentence(
    lab: Drill, runs: dict[str, Run], tmp_path: Path
):
    run = runs["quadratic"]
    path = tmp_path / "run.json"
    for content, told in (
        (b"not JSON", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1, 2]", "is not the run of a lab"),
        (b"{}", "is not the run of a lab"),
        (b" " * (1 << 20) + b"{}", "too large"),
        ({**run, "format": 2}, "newer drill"),
        ({**run, "lab": "quantum"}, "upgrade drill"),
        ({**run, "lab": ["quadratic"]}, 'its "lab" is not'),
        ({**run, "seed": True}, 'its "seed" is not'),
        ({**run, "seed": 1 << 70}, 'its "seed" is not'),
        ({**run, "data": {}}, "damaged"),
        ({**run, "data": {**run["data"], "sizes": [0, 0, 0]}}, "damaged"),
        ({**run, "data": {**run["data"], "heads": "\x1b[31m"}}, "damaged"),
        ({**run, "lab": "gqa-intensity"}, "drill lab gqa-intensity measures anew"),
    ):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(data)
        ran = lab("lab", "--from", str(path))
        assert (ran.code, ran.out) == (2, ""), content
        assert told in ran.err, (ran.err, told)
        assert len(ran.err.splitlines()) == 1
    assert "There is no file" in lab("lab", "--from", str(tmp_path / "none.json")).err


def test_on_a_terminal_a_bar_shows_and_the_questions_are_asked(lab: Drill):
    pytest.importorskip("pty")
    from test_terminal import Terminal

    terminal = Terminal(lab, "lab", "gqa-intensity", "--quick")
    assert "gqa-intensity" in terminal.until("%")  # the bar
    terminal.until("1/4")
    terminal.until(" > ")
    terminal.type("twelve")
    assert "write a number, such as 8 FLOP/byte." in terminal.until(" > ")
    terminal.type("8")
    assert "Right." in terminal.until("2/4")
    terminal.until(" > ")
    terminal.type("4 FLOP/byte")
    assert "Computed: 8 FLOP per byte" in terminal.until("3/4")
    terminal.until(" > ")
    terminal.type("skip")
    terminal.until(" > ")
    terminal.type("quit")
    assert "1 of 4 right" in terminal.until("drill lab --from")
    assert terminal.ends() == 1
    answered = [e for e in events(lab, "gqa-intensity") if e["name"] == "answered"]
    assert [e["detail"]["verdict"] for e in answered] == ["passed", "wrong_answer"]


def test_an_interrupt_ends_it_at_once_and_leaves_nothing(lab: Drill):
    pytest.importorskip("pty")
    from test_terminal import Terminal

    terminal = Terminal(lab, "lab", "quadratic", "--out", "given-up")
    terminal.until("S = ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ends() == 130
    assert not (lab.work / "given-up").exists()
    assert "Stopped. Nothing was kept." in terminal.seen
    assert "Traceback" not in terminal.seen


def test_an_interrupt_at_a_question_names_the_run(lab: Drill, runs: dict[str, Run]):
    pytest.importorskip("pty")
    from test_terminal import Terminal

    terminal = Terminal(lab, "lab", "--from", "quadratic")
    terminal.until(" > ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ends() == 130
    assert "The run is kept, with your answers: drill lab --from quadratic" in terminal.seen


def test_without_matplotlib_a_run_has_its_numbers_and_its_page(
    runs: dict[str, Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    from drills import cli
    from drills.commands import lab as command

    run = runs["softmax-saturation"]
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(command, "_numbers", lambda *_: run)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "softmax-saturation"
    out.mkdir()
    numbers = out / "softmax-saturation.json"
    numbers.with_suffix(".png").write_bytes(b"of other numbers")
    assert cli.run(["lab", "softmax-saturation", "--out", str(out)]) == 0
    assert list(out.iterdir()) == [numbers]
    assert json.loads(numbers.read_text())["data"] == run["data"]
    page, told = capsys.readouterr()
    assert "Saturation of their softmax" in page
    assert "No pictures were drawn, since matplotlib cannot be imported" in told
    assert len(told.splitlines()) == 1


def test_points_that_coincide_stand_side_by_side_in_a_plot():
    axis = {"label": "x", "unit": "", "ticks": (1.0, 10.0, 100.0), "log": True}
    series = [
        {"label": label, "x": (1.0, 10.0, 100.0), "y": ys, "line": False}
        for label, ys in (("a", (1.0, 1.0, 1.0)), ("b", (1.0, 1.0, 1.0)), ("c", (9.0, 1.0, 1.0)))
    ]
    panel = {"title": "t", "x": axis, "y": axis, "series": series}
    lines = [line.plain for line in plot(panel, 80)]
    (row,) = [line for line in lines[1:15] if "o" in line]
    assert row.split("┤")[1].split() == ["ox", "+ox", "+ox"]
    assert lines[-1] == "   Marks side by side: the points coincide."
    assert "coincide" not in plot({**panel, "series": series[:1]}, 80)[-1].plain
