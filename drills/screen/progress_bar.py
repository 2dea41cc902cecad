"""How far a long measurement is, on standard error; on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from drills.screen import console as look


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float, str], None]]:
    """What to call with the share that is done and what comes next. The bar is gone afterwards."""
    if not look.err().is_terminal or not look.err().styled:
        yield lambda done, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(" {task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=1.0, what="starting")

        def show(done: float, what: str) -> None:
            progress.update(task, completed=done, what=what)

        yield show
