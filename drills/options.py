"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from drills.app import App

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])
KINDS = ("code", "debug", "compute", "derive", "trace", "choice", "explain")

pass_app = click.make_pass_decorator(App)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Draw what this seed draws."
)
kind_option = click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")


def complete_ids(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Question ids that begin with what was typed, with their titles."""
    from click.shell_completion import CompletionItem

    try:
        index = App().index
    except Exception:
        return []  # a broken bank is no reason to garble the learner's command line
    return [
        CompletionItem(i, help=index.questions[i]["title"])
        for i in index.order
        if i.startswith(typed)
    ]


def complete_topics(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Topics that begin with what was typed."""
    from click.shell_completion import CompletionItem

    try:
        questions = App().index.questions.values()
    except Exception:
        return []
    topics = sorted({str(question["topic"]) for question in questions})
    return [CompletionItem(topic) for topic in topics if topic.startswith(typed)]


topic_option = click.option("--topic", shell_complete=complete_topics, help="Only this topic.")


def id_argument(required: bool) -> Callable[[F], F]:
    """The argument ID; where it is not required, the problem served last stands in."""
    return click.argument(
        "question_id",
        metavar="ID" if required else "[ID]",
        required=required,
        shell_complete=complete_ids,
    )
