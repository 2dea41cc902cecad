"""Writing an interview down, one event at a time, and finding one to go on with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from drills import clock, home
from drills.app import App
from drills.app import review as review_of
from drills.errors import UNUSABLE, USAGE, DrillError
from drills.mock import state, timer
from drills.mock.history import PREFIX
from drills.mock.plan import Step
from drills.mock.state import Item, State
from drills.store import Attempt, Event, new_uuid

if TYPE_CHECKING:
    from drills.schedule import Rated
    from grader.report import Report


class Record:
    """The events of one interview. Each write is committed before it returns."""

    def __init__(self, app: App, interview: str) -> None:
        self.app = app
        self.id = interview
        self.key = PREFIX + interview

    def state(self) -> State:
        found = state.fold(self.id, self.app.store.events(self.key))
        assert found is not None
        return found

    def began(self, role: str, minutes: int, seed: int) -> None:
        self._note(state.BEGAN, 0.0, seed, role=role, minutes=minutes)

    def asked(self, step: Step, level: int, seed: int, file: str, used: float) -> None:
        """`file` is where the code goes, "" for other answers."""
        told = {k: v for k, v in asdict(step).items() if k not in ("question", "same_file")}
        asked = {**told, "asked": step.question, "level": level, "file": file}
        self._note(state.ASKED, used, seed, **asked)

    def tried(self, item: Item, report: Report, used: float, attempt: Attempt) -> Event:
        """The event of a graded answer, to be committed with its attempt."""
        return self._event(
            state.TRIED,
            used,
            None,
            number=item.number,
            attempt=attempt.uuid,
            verdict=report.verdict,
            score=report.score,
            troubles=troubles(report),
        )

    def judged(
        self, item: Item, report: Report, said: dict[str, bool], used: float, rated: Rated
    ) -> None:
        """What the learner's word made of an answer that no rule decides."""
        event = self._event(
            state.JUDGED,
            used,
            None,
            number=item.number,
            said=said,
            verdict=report.verdict,
            score=report.score,
            troubles=troubles(report),
        )
        self.app.store.record_event(event, review_of(item.question, event.at, rated))

    def hinted(self, item: Item, used: float, named: str) -> None:
        """`named` is the mistake that the hint gave away, or ""."""
        self._note(state.HINTED, used, None, number=item.number, named=named)

    def drafted(self, item: Item, draft: dict[str, str], used: float) -> None:
        """What there is of an answer that is not whole: it outlives a closed terminal."""
        self._note(state.DRAFTED, used, None, number=item.number, draft=draft)

    def closed(self, item: Item, outcome: str, used: float, rated: Rated | None) -> None:
        """`rated` is the review of the item's question that this brings about."""
        event = self._event(state.CLOSED, used, None, number=item.number, outcome=outcome)
        found = None if rated is None else review_of(item.question, event.at, rated)
        self.app.store.record_event(event, found)

    def paused(self, used: float) -> None:
        self._note(state.PAUSED, used)

    def resumed(self, used: float) -> None:
        self._note(state.RESUMED, used)

    def ended(self, why: str, used: float) -> None:
        self._note(state.ENDED, used, None, why=why)

    def debriefed(self, event: str, **summary: object) -> None:
        self.app.store.record_event(
            Event(new_uuid(), self.key, event, clock.now(), None, dict(summary))
        )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the interview here alone. Raises DrillError (exit 2) where another terminal does."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / f"{self.id}.lock").open("w")
        except OSError as error:
            raise DrillError(
                f"{self._folder} cannot be written ({error.strerror}): set DRILL_HOME.", UNUSABLE
            ) from error
        with lock:
            if not _locked(lock):
                raise DrillError(
                    f"The interview {self.id} is open in another terminal: go on with it there, "
                    "or leave it there first.",
                    USAGE,
                )
            yield

    @property
    def elsewhere(self) -> bool:
        """Whether another terminal holds it."""
        try:
            with (self._folder / f"{self.id}.lock").open("r+") as lock:
                return not _locked(lock)
        except OSError:
            return False

    @property
    def _folder(self) -> Path:
        return home.home() / "mock"

    @property
    def clock_file(self) -> Path:
        return self._folder / f"{self.id}.seconds"

    def seconds(self) -> float:
        """What the clock showed last, a killed interview's included."""
        found = self.state()
        since = 0.0 if found.last is None else (clock.now() - found.last).total_seconds()
        return timer.kept(self.clock_file, found.used, found.used + max(0.0, since))

    def _note(self, name: str, used: float, seed: int | None = None, **detail: object) -> None:
        self.app.store.record_event(self._event(name, used, seed, **detail))

    def _event(self, name: str, used: float, seed: int | None, **detail: object) -> Event:
        told = {**detail, "used": round(used, 2)}
        return Event(new_uuid(), self.key, name, clock.now(), seed, told)


def _locked(file: IO[str]) -> bool:
    """Lock `file` until it is closed, the process killed included; False where it is locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def troubles(report: Report) -> list[str]:
    """Ids of the mistakes that were named, and of the parts that are not right."""
    wrong = [part.id for part in report.parts if part.verdict != "passed"]
    return [*(mistake.id for mistake in report.mistakes), *wrong]


def interviews(app: App) -> list[State]:
    """All interviews, the last begun last."""
    events: dict[str, list[Event]] = {}
    for event in app.store.events():
        if event.question.startswith(PREFIX):
            events.setdefault(event.question, []).append(event)
    found = (state.fold(key.removeprefix(PREFIX), told) for key, told in events.items())
    return sorted((one for one in found if one is not None), key=lambda one: one.began)


def unfinished(app: App) -> list[State]:
    """Those to go on with, be it only to the debrief that a kill cut off."""
    return [one for one in interviews(app) if not one.debriefed]


def choose(wanted: str, among: list[State], what: str) -> State:
    """The interview whose id begins with `wanted`; the last one for "". Raises DrillError."""
    fitting = [one for one in among if one.id.startswith(wanted)]
    if not fitting:
        named = f' "{wanted}"' if wanted else ""
        raise DrillError(f"There is no {what} interview{named}: drill mock --list.", USAGE)
    return fitting[-1]
