"""What a submission does to files and processes: ours are closed to it, its own are removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from isolation_harness import HERE, X, call, children_of, question, submit, warm_grader

from grader.isolation import clear
from grader.session import Grader

ROOT = Path(__file__).resolve().parents[2]
GOOD = "def f(x):\n    return x * 2\n"
FIND = (
    "import importlib, importlib.util, os, runpy, sys\n"
    "(zygote,) = [word for word in sys.orig_argv if word.endswith('zygote.py')]\n"
    "root = os.path.dirname(os.path.dirname(os.path.dirname(zygote)))\n"
    "path = root + '/reference/softmax.py'\n"
    "assert os.path.exists(path)\n"
)


@pytest.mark.parametrize(
    "statement",
    [
        "sys.meta_path.clear(); import reference.softmax",
        "sys.meta_path.pop(0); importlib.import_module('reference.softmax')",
        "del sys.meta_path[0]; __import__('grader.judging.oracle')",
        "runpy.run_path(path)",
        "importlib.util.spec_from_file_location('m', path).loader.load_module()",
        "importlib.util.spec_from_file_location('m', path).loader.get_data(path)",
        "open(path).read()",
        "open(path.encode(), 'rb')",
        "open('/proc/self/root' + path)",
        "open(root + '/tests/../reference//./softmax.py')",
        "os.open(path, os.O_RDONLY)",
        "os.chdir(root + '/reference'); open('softmax.py')",
        "os.symlink(root, 'r'); open('r/reference/softmax.py')",
        "open(root + '/tests/honest/attention/one_line.py')",
        "open(root + '/grader/judging/oracle.py', 'a')",
        "import linecache; assert linecache.getlines(path)",
    ],
)
def test_python_neither_imports_nor_opens_what_is_ours(statement: str) -> None:
    (loaded,) = submit(f"{FIND}sys.path.insert(0, root)\n{statement}\n")
    assert loaded.status == "exception", loaded
    words = ("cannot be imported here", "drill's own files are closed", "No module named")
    assert loaded.error == "AssertionError" or any(word in loaded.error for word in words)


def test_other_files_open_as_ever() -> None:
    source = (
        "import os, tempfile\n"
        "assert 'processor' in open('/proc/cpuinfo').read()\n"
        "with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "open('own', 'w').write('x')\nopen(os.open('own', os.O_RDONLY)).read()\n"
        "import torch.utils.data, json.tool, xml.dom\n"
    )
    assert submit(source + GOOD, call(X))[1].status == "returned"


def scratch() -> Path:
    """The folder of folders of the warm grader."""
    warm_grader().start()
    return Path(warm_grader()._scratch)


@pytest.mark.parametrize(
    "statements",
    [
        "shutil.rmtree(top)",
        "shutil.rmtree(top); open(top, 'w')",
        "shutil.rmtree(top); os.symlink('/usr', top)",
        "os.chmod(top, 0)",
        "[os.mkdir(f'{top}/{n}') for n in range(100)]",
        "os.makedirs('a/b/c'); open('a/b/c/d', 'w'); os.chmod('a/b/c', 0); os.chmod('a', 0)",
        "os.rmdir(os.getcwd()); os.symlink('/usr', os.environ['HOME'])",
        "[os.symlink('/usr', f'l{n}') for n in range(3)]; os.mkfifo('p'); os.link('p', 'q')",
        "[(os.mkdir('d'), os.chdir('d')) for n in range(1100)]",
        "[os.close(os.open(n, os.O_CREAT)) for n in (b'\\xff', b'a\\nb', b'-rf', b'x' * 255)]",
    ],
)
def test_whatever_becomes_of_its_folder_the_next_one_has_its_own(statements: str) -> None:
    head = "import os, shutil\ntop = os.path.dirname(os.environ['HOME'])\n"
    (loaded,) = submit(head + statements + "\n" + GOOD)
    assert loaded.status == "returned", loaded
    check = "import os\nassert os.listdir() == []\nopen('f', 'w')\nprint(os.getcwd())\n"
    loaded, called = submit(check + GOOD, call(X))
    assert called.status == "returned", loaded
    assert Path(loaded.stdout.strip()).parent == scratch()
    assert not Path(loaded.stdout.strip()).exists()
    for _ in range(20):  # the folders laid beside are left, the own ones go, at last
        if max(map(len, os.listdir(scratch())), default=0) < 3:
            break
        submit(GOOD)
    else:
        pytest.fail(f"left: {os.listdir(scratch())}")
    assert Path("/usr/bin").is_dir()


def test_more_folders_than_can_be_removed_at_once_delay_neither_verdict_nor_exit() -> None:
    source = b"import os\nfor n in range(3000): os.mkdir(str(n))\nwhile True: pass\n"
    began = time.monotonic()
    with Grader({"prove": "isolation_script:run"}, [HERE]) as grader:
        grader.prove(question(), {"source": GOOD.encode()}, [])
        began = time.monotonic()
        asked = question(limits={"seconds": 1.0})
        (loaded,) = grader.prove(asked, {"source": source}, [])["outcomes"]
        assert loaded["status"] == "resource"
        assert time.monotonic() - began < 2
        folder = Path(grader._scratch)
        began = time.monotonic()
    assert time.monotonic() - began < 1.5
    while folder.exists():  # a process of ours goes on removing
        assert time.monotonic() - began < 30
        time.sleep(0.05)


def test_a_crowd_of_processes_is_gone_soon() -> None:
    source = (
        "import os, time\ndef f(x):\n"
        "    for n in range(12):\n"
        "        if os.fork() == 0:\n"
        "            if n % 2: os.setsid()\n"
        "            time.sleep(60)\n"
        "    return x\n"
    )
    assert submit(source, call(X))[1].status == "returned"
    zygote = warm_grader()._zygote
    assert zygote is not None
    deadline = time.monotonic() + 2
    while len(children_of(zygote.pid)) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(children_of(zygote.pid)) == 1  # the judge


def test_a_process_that_hops_from_fork_to_fork_is_caught() -> None:
    source = (
        "import os, time\ndef f(x):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        end = time.monotonic() + 20\n"
        "        while time.monotonic() < end:\n            if os.fork(): os._exit(0)\n"
        "    return x\n"
    )
    assert submit(source, call(X))[1].status == "returned"
    zygote = warm_grader()._zygote
    assert zygote is not None
    deadline = time.monotonic() + 5
    while len(children_of(zygote.pid)) > 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(children_of(zygote.pid)) == 1


def test_clearing_stops_when_its_time_is_up_and_follows_no_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    folder = tmp_path / "folder"
    for n in range(50):
        (folder / f"{n}" / "a" / "b").mkdir(parents=True)
    (folder / "link").symlink_to(kept)
    (folder / "7" / "link").symlink_to(kept)
    assert not clear.remove(str(folder), seconds=0)
    assert folder.exists()
    assert clear.remove(str(folder))
    assert not folder.exists()
    (tmp_path / "link").symlink_to(kept)
    assert clear.remove(str(tmp_path / "link"))
    assert clear.remove(str(tmp_path / "nothing"))
    assert (kept / "file").read_text() == "x"
