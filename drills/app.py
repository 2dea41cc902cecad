"""What every command shares: the bank's index, the store, and looking up a question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from drills import clock, home, sitting
from drills.errors import UNUSABLE, USAGE, DrillError
from drills.schedule import Rated
from drills.screen.console import say
from drills.store import Event, Review, Store, new_uuid

if TYPE_CHECKING:
    from questions.index import Index

Question = dict[str, Any]
_FINDINGS_SHOWN = 5


class App:
    """Made once a command; nothing is read or opened before it is asked for.

    `bank` is the folder of another bank than the one that comes with drill, None for that one.
    """

    def __init__(self, bank: Path | None = None) -> None:
        self.bank = bank

    @cached_property
    def store(self) -> Store:
        return Store(home.home(), say)

    def close(self) -> None:
        """Close the database, if it was opened: its log is then merged into the one file."""
        if "store" in self.__dict__:
            self.store.close()

    @cached_property
    def index(self) -> Index:
        """Raises DrillError: exit 4 with every finding where the bank is broken, exit 2 where it
        is another one and nobody said that it may be used."""
        from questions import index

        if self.bank is not None:
            from drills import authoring, trust

            if not self.bank.is_dir():
                raise DrillError(f"There is no folder {self.bank} to take a bank from.", UNUSABLE)
            trust.require(self.bank, authoring.default_bank())
        try:
            return index.load(self.bank, home.cache_dir())
        except index.BankError as error:
            raise DrillError(_broken_bank(error.findings, self.bank), UNUSABLE) from error

    def question(self, question_id: str) -> Question:
        """Raises DrillError (exit 2) with suggestions where there is no such question."""
        found = self.index.questions.get(question_id)
        if found is None:
            raise DrillError(unknown_id(question_id, self.index), USAGE)
        return found

    def last_served(self) -> Question:
        """The question that was served or begun last. Raises DrillError (exit 2) for none."""
        last = self.store.last_begun(self.index.questions)
        if last is None:
            raise DrillError("No problem was served yet: drill next serves one.", USAGE)
        return self.index.questions[last]

    def question_or_last(self, question_id: str | None) -> Question:
        return self.last_served() if question_id is None else self.question(question_id)

    def sitting(self, question_id: str) -> sitting.Sitting:
        return sitting.current(
            self.store.attempts(question_id),
            self.store.reviews(question_id),
            self.store.events(question_id),
            clock.now(),
        )

    def note(
        self,
        question_id: str,
        name: str,
        seed: int | None = None,
        detail: dict[str, object] | None = None,
        rated: Rated | None = None,
    ) -> None:
        """Record an event, and with `rated` the review that it brings about."""
        at = clock.now()
        event = Event(new_uuid(), question_id, name, at, seed, detail or {})
        self.store.record_event(event, None if rated is None else review(question_id, at, rated))


def _broken_bank(findings: Sequence[object], bank: Path | None) -> str:
    lines = [str(finding) for finding in findings[:_FINDINGS_SHOWN]]
    if len(findings) > _FINDINGS_SHOWN:
        lines.append(f"… and {len(findings) - _FINDINGS_SHOWN} more")
    path = "" if bank is None else f" {quote(str(bank))}"
    lines.append(f"The bank cannot be used until this is mended: drill bank check --quick{path}")
    if bank is not None:
        lines.append("Without --bank and DRILL_BANK, drill uses the bank that it came with.")
    return "\n".join(lines)


def review(question_id: str, at: datetime, rated: Rated) -> Review:
    return Review(new_uuid(), question_id, at, rated.rating, rated.reason)


def near_misses(wrong: str, names: Sequence[str]) -> list[str]:
    """Up to three of `names` that `wrong` may have been meant for."""
    import difflib

    return difflib.get_close_matches(wrong.lower(), names, n=3, cutoff=0.6)


def unknown_id(wrong: str, index: Index) -> str:
    """The sentence for an id that is not in the bank."""
    from drills.screen.safe import one_line

    shown = one_line(wrong, 60)
    near = index.suggest(wrong)
    if near:
        return f'There is no question "{shown}". Did you mean {" or ".join(near)}?'
    return f'There is no question "{shown}": drill list shows them all.'
