"""Extensions in C++: built by the first process of a submission, and given to its others, by real
processes, torch's own loader and the compiler that is here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from isolation_harness import HERE, X, call
from isolation_harness import question as sample

from grader.isolation import built
from grader.isolation.child import builds
from grader.session import Grader

BUILDS = """
import ctypes
import os
from torch.utils.cpp_extension import load

def library(factor):
    folder = os.path.abspath(f"times{factor}")
    os.makedirs(folder)
    with open(f"times{factor}.cpp", "w") as file:
        file.write('extern "C" int times(int x) { return %d * x; }' % factor)
    load(f"times{factor}", [f"times{factor}.cpp"], build_directory=folder, is_python_module=False)
    made = os.path.exists(os.path.join(folder, f"times{factor}.o"))
    return ctypes.CDLL(os.path.join(folder, f"times{factor}.so")).times, made

times, made = library(2)

def f(x):
    return x * times(5) + made
"""
IN_A_CALL = f"{BUILDS}\ndef f(x):\n    times, made = library(3)\n    return x * times(5) + made\n"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader({"prove": "isolation_script:several"}, [HERE], accelerator="stand-in") as made:
        made._use_device(True)
        yield made


def answers(grader: Grader, source: str) -> dict[str, Any]:
    found = grader.prove(sample(calls=[call(X)] * 2, seconds=60.0), {"source": source.encode()}, [])
    if not grader.policy.compiles or not (shutil.which("g++") and shutil.which("ninja")):
        pytest.skip("no compiler here, or it may not be run")
    return found


def test_what_is_built_while_loading_is_built_once(grader: Grader) -> None:
    found = answers(grader, BUILDS)
    first, second = (outcome["outputs"] for outcome in found["outcomes"])
    assert first[0][0] == [11.0, 21.0, 31.0], found["outcomes"][0]["error"]
    assert second[0][0] == [10.0, 20.0, 30.0]  # the same library, and no object file beside it
    assert found["sizes"][0] == found["sizes"][1] > 0


def test_what_a_call_builds_stays_in_its_process(grader: Grader) -> None:
    found = answers(grader, IN_A_CALL)
    first, second = (outcome["outputs"] for outcome in found["outcomes"])
    assert first == second
    assert first[0][0] == [16.0, 31.0, 46.0]


def laid_aside(folder: Path, **files: bytes) -> Path:
    (folder / builds.FOLDER).mkdir()
    for name, data in files.items():
        (folder / builds.FOLDER / name).write_bytes(data)
    return folder


def test_libraries_are_taken_once(tmp_path: Path) -> None:
    kept = built.Built()
    kept.take(str(laid_aside(tmp_path, **{"a" * 64: b"first"})))
    assert kept.files == {"a" * 64: b"first"}
    (tmp_path / builds.FOLDER / ("b" * 64)).write_bytes(b"learnt from a call")
    kept.take(str(tmp_path))
    assert list(kept.files) == ["a" * 64]


@pytest.mark.parametrize("name", ["short", "A" * 64, "a" * 65])
def test_no_file_of_another_name_is_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / builds.FOLDER).mkdir()
    (tmp_path / builds.FOLDER / name).write_bytes(b"x")
    kept = built.Built()
    kept.take(str(tmp_path))
    assert kept.files == {}


def test_no_link_and_no_pipe_is_followed(tmp_path: Path) -> None:
    kept = built.Built()
    (tmp_path / "secret").write_bytes(b"secret")
    folder = laid_aside(tmp_path) / builds.FOLDER
    (folder / ("a" * 64)).symlink_to(tmp_path / "secret")
    kept.take(str(tmp_path))
    assert kept.files == {}
    (folder / ("a" * 64)).unlink()
    os.mkfifo(folder / ("a" * 64))
    kept = built.Built()
    kept.take(str(tmp_path))
    assert kept.files == {}


def test_more_than_there_is_room_for_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built, "MOST_BYTES", 9)
    kept = built.Built()
    kept.take(str(laid_aside(tmp_path, **{"a" * 64: b"12345", "b" * 64: b"12345"})))
    assert kept.files == {}
