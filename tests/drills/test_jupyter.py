"""`%%drill` in a real kernel: what a notebook shows, what is recorded, what stays of it."""

from __future__ import annotations

import html
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest import Drill
from hypothesis import given, settings
from hypothesis import strategies as st

from drills.screen import notebook
from drills.store import Store

WRONG = "import torch\n\n\ndef causal_mask(t, s):\n    return torch.ones(t, s).tril().bool()\n"
RIGHT = WRONG.replace("tril()", "tril(s - t)")


@dataclass
class Cell:
    """What came of a cell: a page by its types, an error's lines, what else was printed."""

    page: dict[str, Any] = field(default_factory=dict)
    error: list[str] = field(default_factory=list)
    printed: str = ""
    opened: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return str(self.page["text/plain"])

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = self.page[notebook.REPORT_TYPE]
        return report


class Kernel:
    """A kernel as Jupyter starts it, in the home and the folder of `drill`."""

    def __init__(self, drill: Drill) -> None:
        client = pytest.importorskip("jupyter_client")
        pytest.importorskip("ipykernel")
        connection = drill.home / "kernel.json"
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", str(connection)]
        self.process = subprocess.Popen(
            command,
            cwd=drill.work,
            env=drill.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.client = client.BlockingKernelClient(connection_file=str(connection))
        deadline = time.monotonic() + 30
        while not (connection.exists() and connection.read_text().endswith("}")):
            assert time.monotonic() < deadline, "the kernel did not start"
            time.sleep(0.05)
        self.client.load_connection_file()
        self.client.start_channels()
        self.client.wait_for_ready(30)

    def run(self, source: str, heard: Callable[[], None] = lambda: None) -> Cell:
        """`heard` is called when the kernel has begun."""
        cell = Cell()

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] in ("display_data", "execute_result"):
                cell.page = content["data"]
            elif message["msg_type"] == "error":
                cell.error = content["traceback"]
            elif message["msg_type"] == "stream":
                cell.printed += content["text"]
            elif message["msg_type"] == "execute_input":
                heard()

        reply = self.client.execute_interactive(source, output_hook=hear, timeout=60)
        cell.opened = [p["text"] for p in reply["content"].get("payload", ())]
        return cell

    def interrupt_soon(self) -> None:
        time.sleep(1)
        self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        self.client.shutdown()
        self.client.stop_channels()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()


@contextmanager
def kernel(drill: Drill) -> Iterator[Kernel]:
    started = Kernel(drill)
    try:
        yield started
    finally:
        started.end()


def attempts(drill: Drill, question: str) -> list[str]:
    store = Store(drill.home, print)
    try:
        return [attempt.verdict for attempt in store.attempts(question)]
    finally:
        store.close()


def test_a_cell_of_code_is_graded_shut_in_and_recorded(drill: Drill):
    with kernel(drill) as notebook_:
        notebook_.run("%load_ext drills.jupyter\nimport torch as borrowed")
        (opened,) = notebook_.run("%drill start causal-mask").opened
        assert opened.startswith("%%drill causal-mask\n")
        assert notebook_.run(opened).error[0].startswith("The cell is still the starter")

        wrong = notebook_.run(f"%%drill causal-mask --seed 7\n{WRONG}")
        assert (wrong.report["verdict"], wrong.report["seed"]) == ("wrong_answer", 7)
        assert "aligned at the top left" in wrong.text
        assert "from cell import" not in wrong.text  # a notebook has no such file
        assert "Try it    %%drill causal-mask --seed 7 --case " in wrong.text
        outside = WRONG.replace("import torch", "").replace("torch", "borrowed")
        unseen = notebook_.run(f"%%drill causal-mask\n{outside}")
        assert "NameError" in unseen.text
        assert "line 6" in unseen.text  # as the notebook numbers the cell's lines
        raising = "def causal_mask(t, s):\n    raise ValueError('<script>x</script>')\n"
        hostile = notebook_.run(f"%%drill causal-mask --no-record\n{raising}")
        assert "<script>x" in hostile.text
        assert "<script" not in hostile.page["text/html"]
        assert "&lt;script&gt;x" in hostile.page["text/html"]
        assert attempts(drill, "causal-mask") == ["wrong_answer", "runtime_error"]
        assert "NameError" in notebook_.run("causal_mask").error[-1]

        forever = "def causal_mask(t, s):\n    while True: pass\n"
        interrupted = notebook_.run(f"%%drill causal-mask\n{forever}", notebook_.interrupt_soon)
        assert interrupted.error == ["Interrupted: nothing was recorded."]
        right = notebook_.run(f"%%drill causal-mask --run\n{RIGHT}")
        assert right.report["verdict"] == "passed"
        assert "True" in notebook_.run("causal_mask(1, 2)").text
        assert attempts(drill, "causal-mask") == ["wrong_answer", "runtime_error", "passed"]

        children = "import psutil; print(len(psutil.Process().children(recursive=True)))"
        assert int(notebook_.run(children).printed) > 0
        notebook_.run("%unload_ext drills.jupyter")
        assert notebook_.run(children).printed == "0\n"


def test_an_answer_in_a_cell_shows_the_page_of_the_terminal(
    make_drill: Callable[[str], Drill],
):
    drill, other = make_drill("notebook"), make_drill("terminal")
    with kernel(drill) as notebook_:
        notebook_.run("%load_ext drills.jupyter")
        unshown = notebook_.run("%%drill kv-cache-size\n1 GB")
        assert unshown.error == [other("answer", "kv-cache-size", "1 GB").err.strip()]
        for page, arguments in (
            ("%drill list --topic softmax", ("list", "--topic", "softmax")),
            ("%%drill kv-cache-size --seed 7\n1 GB\n", ("answer", "kv-cache-size", "1 GB")),
            ("%drill hint kv-cache-size", ("hint", "kv-cache-size")),
        ):
            seed = ("--seed", "7") if arguments[0] == "answer" else ()
            shown = notebook_.run(page)
            assert shown.text == other(*arguments, *seed).out.rstrip("\n")
            assert words(shown.page["text/html"]) == shown.text
        served = notebook_.run("%drill next --kind compute")
        (opened,) = served.opened
        assert f"Next  {opened.strip()}" in served.text
        prose = (
            "A dot product grows with the width, and dividing keeps the softmax from saturating."
        )
        open_ = notebook_.run(f"%%drill explain-sqrt-dk\n{prose}").report
        points = [part["id"] for part in open_["parts"] if part["verdict"] == "needs_review"]
        assert (open_["verdict"], bool(points)) == ("needs_review", True)
        letters = "n" * len(points)
        settled = notebook_.run(f"%%drill explain-sqrt-dk --made {letters}\n{prose}").report
        assert settled["verdict"] in ("partial", "wrong_answer")
        assert {p["verdict"] for p in settled["parts"] if p["id"] in points} == {"wrong_answer"}
        for line, told in (
            (f"%%drill explain-sqrt-dk --made {letters}n\n{prose}", "Points left open"),
            ("%%drill kv-cache-siz\n1", "There is no question"),
            ("%%drill kv-cache-size --case x\n1", "leave out --case"),
            ("%%drill kv-cache-size --seed x\n1", "no whole number"),
            ("%%drill 'kv\n1", "cannot be read"),
            ("%drill lab quadratic", "needs a terminal"),
        ):
            (sentence,) = notebook_.run(line).error
            assert told in sentence
            assert "Traceback" not in sentence
        assert notebook_.run("import sys; print('torch' in sys.modules)").printed == "False\n"
    assert attempts(drill, "kv-cache-size") == ["wrong_answer"]


def words(page: str) -> str:
    """What a browser shows of it, where it holds no markup but <pre> and <span>."""
    bare = re.sub(r"</?(?:pre|span)(?: style=\"[^\"<>]*\")?>", "", page)
    assert not re.search("[<>\"']", bare)
    return html.unescape(bare)


@settings(max_examples=50, deadline=None)
@given(
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1),
    st.sampled_from("1234567"),
)
def test_no_text_becomes_markup(text: str, colour: str):
    page = notebook.Page()
    page.write(f"{text}\x1b[1;3{colour}m{text}\x1b[0m\n{text}")
    assert words(page._repr_html_()) == f"{text}{text}\n{text}" == repr(page)


def test_every_colour_is_read_on_white_and_on_black():
    for colour in (notebook.GREY, *notebook.COLOURS.values()):
        for ground in ("#ffffff", "#111111"):
            dark, light = sorted((_luminance(colour), _luminance(ground)))
            assert (light + 0.05) / (dark + 0.05) > 4.2, (colour, ground)


def _luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
