"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drills.app import App, near_misses
from drills.errors import DrillError
from drills.screen.safe import one_line
from questions.kinds import CODE_KINDS, all_cases

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])
KINDS = ("code", "debug", "kernel", "compute", "derive", "trace", "choice", "explain")

pass_app = click.make_pass_decorator(App)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
_TAKES_CODE = {"grade": True, "start": True, "answer": False}
_LARGEST_SEED = 2**63 - 1


def seed_number(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A whole number that SQLite can hold."""
    if value is None:
        return None
    if not re.fullmatch("[0-9]{1,19}", value) or int(value) > _LARGEST_SEED:
        wrong = f"'{one_line(value, 40)}' is no whole number from 0 to {_LARGEST_SEED}."
        raise click.BadParameter(wrong, ctx, param)
    return int(value)


seed_option = click.option(
    "--seed",
    metavar="N",
    callback=seed_number,
    help="Repeat the numbers or cases of a report: it names its seed.",
)
kind_option = click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")


def _completing(ctx: click.Context) -> App:
    """An App for the bank that the line names: while it is typed no command has made one."""
    bank = ctx.find_root().params.get("bank")
    return App(Path(bank).expanduser() if bank else None)


def complete_ids(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Question ids that begin with what was typed, with their titles: those of code for the
    commands that take a file, those of the other kinds for the one that takes an answer."""
    from click.shell_completion import CompletionItem

    code = _TAKES_CODE.get(ctx.info_name or "")
    try:
        index = _completing(ctx).index
    except Exception:
        return []  # a broken bank is no reason to garble the learner's command line
    return [
        CompletionItem(i, help=index.questions[i]["title"])
        for i in index.order
        if i.startswith(typed) and code in (None, index.questions[i]["kind"] in CODE_KINDS)
    ]


def complete_files(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Files: the shell finds them."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type="file")]


def complete_ids_or_files(
    ctx: click.Context, param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Question ids, and files where no id begins with what was typed."""
    return complete_ids(ctx, param, typed) or complete_files(ctx, param, typed)


def complete_cases(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """The cases of the question that the line names, with their titles."""
    from click.shell_completion import CompletionItem

    try:
        questions = _completing(ctx).index.questions
        # Behind an option that lacks its value click has not given the words their names yet.
        words = (ctx.params.get("first"), *ctx.args)
        question = next(questions[word] for word in words if word in questions)
    except Exception:
        return []
    return [
        CompletionItem(case["id"], help=case["title"])
        for case in all_cases(question)
        if case["id"].startswith(typed)
    ]


def complete_topics(
    ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Topics that begin with what was typed."""
    from click.shell_completion import CompletionItem

    try:
        questions = _completing(ctx).index.questions.values()
    except Exception:
        return []
    topics = sorted({str(question["topic"]) for question in questions})
    return [CompletionItem(topic) for topic in topics if topic.startswith(typed)]


def _known_topic(ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Raises DrillError (exit 2) with suggestions for a topic that the bank has not."""
    if value is None or ctx.resilient_parsing:
        return value
    app = ctx.ensure_object(App)
    topics = sorted({str(question["topic"]) for question in app.index.questions.values()})
    if value not in topics:
        shown = one_line(value, 60)
        near = near_misses(value, topics)
        told = f". Did you mean {' or '.join(near)}?" if near else ": drill list shows them all."
        raise DrillError(f'There is no topic "{shown}"{told}')
    return value


topic_option = click.option(
    "--topic",
    shell_complete=complete_topics,
    callback=_known_topic,
    help="Only this topic.",
)


def id_argument(required: bool) -> Callable[[F], F]:
    """The argument ID; where it is not required, the problem served last stands in."""
    return click.argument(
        "question_id",
        metavar="ID" if required else "[ID]",
        required=required,
        shell_complete=complete_ids,
    )
