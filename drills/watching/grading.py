"""One grade after the other, beside the loop that reads the keys."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drills import serving, submit
from drills.app import App
from drills.errors import GRADER_ERROR, DrillError

if TYPE_CHECKING:
    from drills.serving import Served
    from grader.report import Report
    from grader.session import Grader

_PATIENCE = 5.0  # seconds for the processes of a grade that is given up


@dataclass(frozen=True)
class Job:
    """`source`, read from the file at `path` as seen from here, to be graded as `name`."""

    served: Served
    source: bytes
    path: str
    name: str


@dataclass(frozen=True)
class Graded:
    job: Job
    result: Report | DrillError


class Grading(threading.Thread):
    """Grades the jobs that are `put`, in their order, and calls `done` with each result. One
    thread for the whole life: the system may end the processes of one that is gone. A context
    manager; leaving it gives a running grade up."""

    def __init__(self, app: App, grader: Grader, done: Callable[[Graded], None]) -> None:
        super().__init__(daemon=True)
        self._app = app
        self._grader = grader
        self._done = done
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def __enter__(self) -> Grading:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._jobs.put(None)
        self._grader.abandon()
        self.join(_PATIENCE)

    def put(self, job: Job) -> None:
        self._jobs.put(job)

    def run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._done(Graded(job, self._grade(job)))

    def _grade(self, job: Job) -> Report | DrillError:
        try:
            return submit.grade_source(
                self._app,
                self._grader,
                job.served.question,
                job.source,
                serving.draw_seed(),
                job.name,
            )
        except DrillError as error:
            return error
        except Exception as error:  # the loop goes on, whatever it was
            told = f"drill hit a fault of its own (not yours): {type(error).__name__}: {error}"
            return DrillError(told, GRADER_ERROR)
