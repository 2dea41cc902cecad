"""A submission's file is read once, as bytes; what is no file to grade gets one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.isolation.source import LARGEST, SourceError, read_source


def refusal(path: Path) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_source(path)
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")
    return caught.value


def test_a_file_comes_as_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    for data in (b"x = 1\r\n", b"\xef\xbb\xbfx = 1", b"# \xff", b"#" * LARGEST):
        path.write_bytes(data)
        assert read_source(path) == data
        assert read_source(str(path)) == data


def test_what_is_no_file_is_a_mistake_of_usage(tmp_path: Path) -> None:
    fifo, link, dangling = tmp_path / "pipe.py", tmp_path / "link.py", tmp_path / "dangling.py"
    os.mkfifo(fifo)
    (tmp_path / "a.py").write_text("x = 1")
    link.symlink_to(tmp_path / "a.py")
    dangling.symlink_to(tmp_path / "nowhere")
    for path, words in (
        (tmp_path / "missing.py", "There is no file"),
        (tmp_path, "is a folder"),
        (fifo, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (link, "symbolic link"),
        (dangling, "symbolic link"),
        (tmp_path / "a.py" / "b.py", "cannot be read"),
        (tmp_path / ("x" * 300), "cannot be read"),
        (Path("a\0b"), "cannot be read"),
    ):
        error = refusal(path)
        assert words in str(error), path
        assert error.kind == "usage"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_mistake_of_usage(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1")
    path.chmod(0)
    assert "Permission denied" in str(refusal(path))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"#" * (LARGEST + 1), "larger than 256 KiB"),
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\0\0", "binary"),
    ],
)
def test_what_cannot_be_a_submission_is_invalid(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    error = refusal(path)
    assert words in str(error)
    assert error.kind == "invalid"
