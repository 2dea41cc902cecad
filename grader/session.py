"""The CLI's handle on the processes that grade. Imports neither torch, numpy nor pydantic.

    session  --request-->  judge  --call-->  submission
        \\--- starts, ends --> zygote, which forks both, or spawns them

The session speaks to the judge over one socket and holds the zygote's life in another: when that
one is closed, by us or by our death, the zygote kills every process and leaves.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from grader.isolation import clear, folders, frames, policy
from grader.isolation.accelerator import CUDA
from grader.isolation.accelerator import KEPT_VARIABLES as OF_DEVICES
from grader.isolation.hidden import hidden
from grader.isolation.source import reordered
from grader.report import Device, Report
from questions.kinds import all_cases

ZYGOTE = Path(__file__).with_name("isolation") / "zygote.py"
HANDLERS = {
    "grade": "grader.judging.grade:grade",
    "reproduce": "grader.judging.reproduce:reproduce",
    "prove": "grader.power:prove",
    "lab": "grader.labs:run",
}
PATIENCE = 120.0  # seconds without a word from the judge, beyond the submission's own limit
QUIET = 0.5  # seconds without a word after which the zygote is suspected to be stopped
KEPT_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


class GraderFault(Exception):
    """The grading processes failed: one sentence that says so. `log` is for a bug report."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class Grader:
    """Grades submissions, each in a process of its own. Use as a context manager.

    The processes start with the first request (or `start`), stay warm, and are started anew when
    one of ours died. They are shut in as well as this machine allows (`policy`), but no better
    than the tier `highest` and the version `abi` of Landlock. `handlers` and `paths` point the
    judge at other code, and `accelerator` is what the device "cuda" stands for; tests use them.
    """

    def __init__(
        self,
        handlers: Mapping[str, str] | None = None,
        paths: Sequence[str] = (),
        patience: float = PATIENCE,
        highest: int = 3,
        abi: int | None = None,
        accelerator: str = CUDA,
    ) -> None:
        self.handlers = {**HANDLERS, **(handlers or {})}
        self.paths = list(paths)
        self.patience = patience
        self.highest = highest
        self.abi = abi
        self.accelerator = accelerator
        self._on_a_device = False
        self.policy = policy.Policy(1, "nothing was started")
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._judge: socket.socket | None = None
        self._log: IO[bytes] | None = None
        self._scratch = ""
        self._hides = False

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin to import torch in the background; does nothing when that was done."""
        if self._zygote is not None and self._zygote.poll() is None:
            return
        self.close()
        control, control_far = socket.socketpair()
        judge, judge_far = socket.socketpair()
        told, tell = os.pipe()
        self._control, self._judge = control, judge
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._scratch = os.path.join(tempfile.gettempdir(), f"drill-{secrets.token_hex(8)}")
        device = self.accelerator if self._on_a_device else ""
        wrap, lacking = policy.outer(self._scratch, self.paths, self.highest, device)
        ours = (control_far.fileno(), judge_far.fileno(), told)
        command = [*wrap, sys.executable, "-I", "-S", "-B", "-X", "utf8", str(ZYGOTE)]
        command.append(policy.start())
        try:
            with control_far, judge_far, open(told, "rb", 0):  # theirs alone from now on
                self._zygote = subprocess.Popen(
                    [*command, *map(str, ours), self._scratch, *folders.libraries()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._log,
                    env=_environment(self._scratch if wrap else None, device),
                    cwd="/",
                    pass_fds=ours,
                    start_new_session=True,
                )
            hidden.begin()
            self._hides = True
            # Torch is being imported meanwhile.
            self.policy = policy.inner(lacking, self.highest, self.abi, device)
            with contextlib.suppress(BrokenPipeError):  # it died: the first request will say so
                os.write(tell, self.policy.encode())
        except BaseException:
            self.close()
            raise
        finally:
            os.close(tell)

    def abandon(self) -> None:
        """End the request that another thread waits for, which becomes a fault, and its processes:
        the next one starts them anew."""
        control = self._control
        if control is not None:
            with contextlib.suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End every process. Safe to call at any time, and twice."""
        for sock in (self._judge, self._control):
            if sock is not None:
                sock.close()
        if self._zygote is not None:
            self._zygote.send_signal(signal.SIGCONT)  # a submission may have stopped it
            try:
                self._zygote.wait(5)
            except subprocess.TimeoutExpired:
                self._zygote.kill()
                self._zygote.wait()
            if self._zygote.returncode:  # else it has done this, or is at it
                clear.remove(self._scratch)
        if self._hides:
            hidden.end()
            self._hides = False
        if self._log is not None:
            self._log.close()
        self._zygote = self._control = self._judge = self._log = None

    def warm(self) -> None:
        """Have the zygote import what torch imports lazily (seconds), so that no submission pays.

        For long sessions, between two grades: a grade that comes meanwhile waits.
        """
        if self._judge is not None:
            with contextlib.suppress(frames.Closed, TimeoutError):
                frames.send(self._judge, {"op": "warm"})

    def grade(
        self,
        question: dict[str, Any],
        source: bytes,
        seed: int | None = None,
        filename: str = "submission.py",
        mistakes: dict[str, Any] | None = None,
        only_case: str | None = None,
        device: Device = "cpu",
    ) -> Report:
        """Grade a submission. A fault of ours is a report with the verdict `grader_error`.

        Raises ValueError for a case that the question does not have.
        """
        if only_case is not None:
            _check_case(question, only_case)
        self._use_device(device == "cuda")
        if device == "cuda":
            question = {**question, "seconds": question["cuda"]["seconds"]}
        # Drawn here, so that a report of a failure can name it too.
        seed = secrets.randbits(31) if seed is None else seed
        began = time.monotonic()
        request = {
            "question": question,
            "source": base64.b64encode(source).decode(),
            "seed": seed,
            "filename": filename,
            "mistakes": mistakes or {},
            "only_case": only_case,
            "device": device,
        }
        try:
            report = Report.from_json(self._ask("grade", request, question["seconds"]))
        except GraderFault as fault:
            report = Report(
                question=question["id"],
                kind=question["kind"],
                verdict="grader_error",
                score=0.0,
                seed=seed,
                summary=str(fault),
                output=fault.log,
                seconds=time.monotonic() - began,
                revision=question.get("revision", 1),
                device=device,
            )
        notes = tuple(filter(None, (reordered(source), *report.notes)))
        return replace(report, notes=notes, isolation=self.policy.layers(question["seconds"]))

    def _use_device(self, wanted: bool) -> None:
        """What a GPU needs is let in for its own submissions alone, by processes of their own."""
        if wanted != self._on_a_device:
            self.close()
            self._on_a_device = wanted

    def reproduce(self, question: dict[str, Any], seed: int, case_id: str, **keywords: Any) -> str:
        """One case as a Python program. Raises ValueError for an unknown case, GraderFault."""
        _check_case(question, case_id)
        request = {"arguments": [question, seed, case_id], "keywords": keywords}
        return str(self._ask("reproduce", request, question["seconds"]))

    def prove(
        self,
        question: dict[str, Any],
        honest: Mapping[str, bytes],
        seeds: Sequence[int],
        mistakes: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The proof of a question's power. Raises GraderFault."""
        encoded = {name: base64.b64encode(data).decode() for name, data in honest.items()}
        request = {
            "question": question,
            "honest": encoded,
            "seeds": list(seeds),
            "mistakes": dict(mistakes or {}),
        }
        result: dict[str, Any] = self._ask("prove", request, question["seconds"])
        return result

    def lab(
        self,
        name: str,
        seed: int,
        quick: bool = False,
        source: bytes | None = None,
        filename: str = "submission.py",
        progress: Callable[[float, str], None] | None = None,
    ) -> dict[str, Any]:
        """Measure: what `grader.labs.run` returns, and by "isolation" what a learner's file was
        shut in by. `source` is that file, None for the reference; `progress` hears the share that
        is done, and what comes next.

        Raises GraderFault.
        """
        from grader.labs import FILE_SECONDS

        self._use_device(False)

        def hear(word: dict[str, Any]) -> None:
            if progress is not None and "done" in word:
                progress(float(word["done"]), str(word["what"]))

        request = {
            "name": name,
            "seed": seed,
            "quick": quick,
            "source": None if source is None else base64.b64encode(source).decode(),
            "filename": filename,
        }
        result: dict[str, Any] = self._ask("lab", request, FILE_SECONDS, hear)
        layers = () if source is None else self.policy.layers(FILE_SECONDS)
        return {**result, "isolation": list(layers)}

    def _ask(
        self,
        operation: str,
        request: dict[str, Any],
        seconds: float,
        hear: Callable[[dict[str, Any]], None] = lambda word: None,
    ) -> Any:
        """One request to the judge. Whatever goes wrong, no process is left half-way. `hear` gets
        each sign of life that comes before the answer."""
        try:
            self.start()
            assert self._judge is not None
            self._judge.settimeout(self.patience + seconds)
            header = {"op": operation, "handler": self.handlers[operation], "paths": self.paths}
            frames.send(self._judge, {**header, **request})
            answer = {"beat": True}
            while "beat" in answer:
                self._await_word(self.patience + seconds)
                answer = frames.receive(self._judge)
                hear(answer)
        except frames.Closed:
            killed = self._killed(1.0)  # the zygote ends by itself, and says why
            log = self._end_with_log()
            raise GraderFault(_death(log, killed), log) from None
        except TimeoutError:
            log = self._end_with_log()
            message = "The grader stopped answering; the fault is ours, not your code's. Try again."
            raise GraderFault(message, log) from None
        except BaseException:  # KeyboardInterrupt too: the request is half done
            self.close()
            raise
        if "error" in answer:
            error, log = str(answer["error"]), str(answer["traceback"])
            if answer.get("broken"):
                killed = self._killed(0.0)
                self.close()  # the next request starts them anew
                if killed:
                    raise GraderFault(_death(log, killed), log)
            raise GraderFault(f"The grader failed ({error}); the fault is ours.", log)
        return answer["result"]

    def _await_word(self, seconds: float) -> None:
        """Until the judge's socket is readable. Raises TimeoutError."""
        assert self._judge is not None
        assert self._zygote is not None
        deadline = time.monotonic() + seconds
        while not select.select([self._judge], [], [], min(QUIET, seconds))[0]:
            if time.monotonic() > deadline:
                raise TimeoutError
            # A submission may have stopped it; to one that runs this does nothing.
            self._zygote.send_signal(signal.SIGCONT)

    def _killed(self, seconds: float) -> int:
        """The signal that the zygote died of, if it does within `seconds`; else 0."""
        assert self._zygote is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            return max(0, -self._zygote.wait(seconds))
        return 0

    def _end_with_log(self) -> str:
        log, self._log = self._log, None
        self.close()
        if log is None:
            return ""
        with log:
            log.seek(0)
            return log.read()[-4000:].decode("utf-8", "replace")


def _check_case(question: dict[str, Any], case_id: str) -> None:
    known = [case["id"] for case in all_cases(question)]
    if case_id not in known:
        raise ValueError(f"`{question['id']}` has no case `{case_id}`; it has {', '.join(known)}.")


def _death(log: str, killed: int) -> str:
    """Why the processes are gone. `killed`: the signal that the zygote died of, or 0."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed in this environment; install it and grade again."
    last = log.strip().splitlines()[-1:] or [""]
    told = re.fullmatch(r"the judge was killed by signal (\d+)", last[0])
    number = killed or (int(told[1]) if told else 0)
    if number:
        return (
            f"The grader was killed (signal {number}): by the system for want of memory, by hand, "
            "or by the code that it ran; nothing is held against your answer."
        )
    if "Error" in last[0]:
        return f"The grader could not start or go on ({last[0].strip()}); the fault is ours."
    return "The grader's process died; the fault is ours, not your code's. Try again."


def _environment(folder: str | None, accelerator: str) -> dict[str, str]:
    """`folder`: the only one that can be written, where there is a sandbox."""
    names = (*KEPT_VARIABLES, *(OF_DEVICES if accelerator else ()))
    kept = {name: os.environ[name] for name in names if name in os.environ}
    if folder is not None:
        kept["TMPDIR"] = folder
    # One thread: small tensors gain nothing from more, and a fork after threads can hang.
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    kept |= dict.fromkeys((*threads, "VECLIB_MAXIMUM_THREADS"), "1")
    # torch.compile starts compilers, which are shut out: the same code then runs as it is written.
    return {**kept, "TORCHDYNAMO_DISABLE": "1"}
