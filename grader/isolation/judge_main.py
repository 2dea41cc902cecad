"""The judge's process: forked from the zygote, it alone imports the judging side.

It answers the session's requests one after the other and stays warm between them.
"""

from __future__ import annotations

import base64
import importlib
import inspect
import os
import socket
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.isolation.launcher import Launcher
    from grader.isolation.worker_handle import Worker

Factory = Callable[[], "Worker"]


def main(
    session: socket.socket,
    launches: socket.socket,
    scratch: str,
    root: str,
    policy: dict[str, Any],
) -> None:
    """Serve until the session is gone. `root` is the folder that holds our packages."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    if root not in sys.path:
        sys.path.insert(0, root)
    from grader.isolation import frames
    from grader.isolation.launcher import Launcher

    _compute()
    judge = Judge(session, Launcher(launches, scratch, policy))
    while True:
        try:
            request = frames.receive(session)
        except frames.Closed:
            return
        if request["op"] == "warm":  # nobody waits for an answer
            judge.launcher.warm()
        else:
            frames.send(session, judge.answer(request))


def _compute() -> None:
    """A product and a backward pass: a fork in which these hang must hang here, in ours."""
    import torch

    x = torch.ones(8, 8, requires_grad=True)
    torch.autograd.grad((x @ x).sum(), x)


class Judge:
    """Runs one request at a time."""

    def __init__(self, session: socket.socket, launcher: Launcher) -> None:
        self.session = session
        self.launcher = launcher

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """{"result": ...}, or {"error", "traceback"} where the judging side failed."""
        try:
            for folder in request.get("paths", ()):
                if folder not in sys.path:
                    sys.path.append(folder)
            module, _, name = request["handler"].partition(":")
            function = getattr(importlib.import_module(module), name)
            return {"result": getattr(self, request["op"])(function, request)}
        except Exception as error:
            from grader.isolation.launcher import IsolationFault

            return {
                "error": f"{type(error).__name__}: {error}",
                "traceback": traceback.format_exc(),
                # Not a bug of one grade: the processes themselves are in disorder.
                "broken": isinstance(error, (OSError, MemoryError, IsolationFault)),
            }

    def grade(self, function: Callable[..., Any], request: dict[str, Any]) -> Any:
        """`grader.judging.grade.grade`."""
        source = base64.b64decode(request["source"])
        question = request["question"]
        if request["device"] == "interpret":
            self.launcher.interpret()
        report = function(
            question,
            source,
            request["seed"],
            request["filename"],
            request["mistakes"],
            self.factory(question, source, request["filename"]),
            request["only_case"],
            device=request["device"],
            others=lambda name: self.reference_factory(question, name),
        )
        done = ("passed", "not_run")
        undone = [check.id for check in report.checks if check.verdict not in done]
        if report.verdict == "passed" and (undone or not report.checks):
            raise AssertionError(f"a pass without {', '.join(undone) or 'checks'}")
        return report.to_json()

    def reproduce(self, function: Callable[..., Any], request: dict[str, Any]) -> Any:
        """`grader.judging.reproduce.reproduce`."""
        return function(*request["arguments"], **request["keywords"])

    def prove(self, function: Callable[..., Any], request: dict[str, Any]) -> Any:
        """`grader.power.prove`: `factory(source, filename)` makes a worker factory."""
        question = request["question"]
        honest = {name: base64.b64decode(text) for name, text in request["honest"].items()}

        def factory(source: bytes, filename: str = "submission.py") -> Factory:
            return self.factory(question, source, filename)

        return function(question, honest, request["seeds"], factory, request["mistakes"])

    def lab(self, function: Callable[..., Any], request: dict[str, Any]) -> Any:
        """`grader.labs.run`: `factory(source, filename, entry)` makes a worker factory."""
        text = request["source"]

        def factory(source: bytes, filename: str, entry: str) -> Factory:
            from grader.labs import FILE_SECONDS as seconds

            question = {"seconds": seconds, "forbidden": (), "entry": entry, "framework": "torch"}
            return self.factory(question, source, filename)

        return function(
            request["name"],
            request["seed"],
            request["quick"],
            None if text is None else base64.b64decode(text),
            request["filename"],
            factory,
            self.progress,
        )

    def factory(self, question: dict[str, Any], source: bytes, filename: str) -> Factory:
        """What makes fresh workers for one submission to one question."""
        from grader.isolation.built import Built
        from grader.isolation.calls import limits_of
        from grader.isolation.worker_handle import Worker

        built = Built()
        limits = limits_of(question["seconds"], self.launcher.accelerator)
        forbidden = tuple(question["forbidden"])
        return lambda: Worker(
            self.launcher,
            source,
            question["entry"],
            question["framework"],
            limits,
            forbidden,
            filename,
            self.beat,
            built,
        )

    def reference_factory(self, question: dict[str, Any], name: str) -> Factory:
        """Workers for one of our own functions, by its dotted name, run as a submission is."""
        module, _, entry = name.rpartition(".")
        source = inspect.getsource(importlib.import_module(module)).encode()
        free = {**question, "entry": entry, "forbidden": ()}
        return self.factory(free, source, f"{module}.py")

    def progress(self, done: float, what: str) -> None:
        """A sign of life that tells how far a long measurement is."""
        from grader.isolation import frames

        frames.send(self.session, {"beat": True, "done": done, "what": what})

    def beat(self) -> None:
        """A sign of life: the session waits for the next word, not for the whole grade."""
        from grader.isolation import frames

        frames.send(self.session, {"beat": True})
