"""A study plan: the next seven days by name, then week by week, then what found no time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from rich.text import Text

from drills.screen import console as look
from drills.screen.markdown import wrap
from drills.screen.report import beside

if TYPE_CHECKING:
    from drills.plan import Task
    from drills.plan_facts import Standing

FORMAT = 1
DETAILED = 7  # days
_LEFT_OUT_SHOWN = 8
# Written out: strftime would speak the language of the machine.
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def print_plan(standing: Standing) -> None:
    terminal = look.out()
    for line in plan_lines(standing, terminal.width):
        terminal.print(line)


def plan_lines(standing: Standing, width: int) -> list[Text]:
    lines = [Text(""), *_head(standing, width)]
    for number in range(min(DETAILED, standing.days)):
        lines += [Text(""), *_day(standing, number, width)]
    rows = _weeks(standing, width)
    lines += [Text(""), *rows] if rows else []
    lines += [Text(""), *_left_out(standing, width)]
    lines.append(Text.assemble((" Next  ", look.DIM), ("drill next", look.ACTION)))
    return lines


def _head(standing: Standing, width: int) -> list[Text]:
    aim, plan = standing.aim, standing.plan
    role = f" · {aim.role}" if aim.role else ""
    title = Text(f" Plan until {_named(aim.until)} {aim.until.year}", style=look.BOLD)
    facts = f"{_days(standing.days)} · {aim.hours:g} h a week{role}"
    lines = beside(title, Text(facts, style=look.DIM), width)
    share = f"Predicted recall on that day: {plan.recall:.0%} of all problems with this plan, "
    lines += wrap(Text(f"{share}{plan.unaided:.0%} without."), width, " ")
    if standing.behind:
        told = f"You are {_time(standing.behind)} behind; the rest of the week makes up for it."
        lines += wrap(Text(told, style=look.UNSURE), width, " ")
    return lines


def _day(standing: Standing, number: int, width: int) -> list[Text]:
    tasks = [task for task in standing.plan.tasks if task.day == number]
    head = Text(f" {_named(standing.today + timedelta(days=number))}", style=look.BOLD)
    minutes = _minutes(tasks)
    if number == 0:
        done = standing.done
        of = f"{_time(_minutes(done))} of {_time(_minutes(done) + minutes)} done"
        head = Text(" Today", style=look.BOLD).append(f"  {of}" if done or tasks else "  free")
        rows = _listed("done", [task.question for task in done], width, look.GOOD)
    else:
        head.append(f"  {_time(minutes)}" if tasks else "  free")
        rows = []
    head.stylize("not bold dim", len(head.plain.partition("  ")[0]))
    for label, kind in (("review", "review"), ("new", "new")):
        rows += _listed(label, [task.question for task in tasks if task.kind == kind], width)
    if any(task.kind == "mock" for task in tasks):
        role = f" --role {standing.aim.role}" if standing.aim.role else ""
        rows += _listed("mock", [f"drill mock{role}, 45 minutes by the clock"], width)
    return [head, *rows]


def _listed(label: str, names: Sequence[str], width: int, style: str = look.DIM) -> list[Text]:
    if not names:
        return []
    rows = wrap(Text(", ".join(names)), width, f"   {label:<8}", " " * 11)
    rows[0].stylize(style, 0, 11)
    return rows


def _weeks(standing: Standing, width: int) -> list[Text]:
    from drills.screen.listing import table

    rows = []
    for first, last in _spans(standing):
        tasks = [task for task in standing.plan.tasks if first <= task.day <= last]
        new, reviews, mocks = (sum(t.kind == k for t in tasks) for k in ("new", "review", "mock"))
        parts = [f"{new} new"] if new else []
        parts += [f"{reviews} review{'' if reviews == 1 else 's'}"] if reviews else []
        parts += ["a mock interview"] if mocks else []
        counts = ", ".join(parts) or "free"
        begin, end = (standing.today + timedelta(days=day) for day in (first, last))
        rows.append((f" {_span(begin, end)}", _time(_minutes(tasks)), counts))
    return table(("", "", ""), rows, width, right=(1,), shrink=2) if rows else []


def _spans(standing: Standing) -> Iterator[tuple[int, int]]:
    """First and last day of the plan's weeks, from the detailed days on."""
    day = DETAILED
    while day < standing.days:
        last = min(day + 6 - (standing.frame.into + day) % 7, standing.days - 1)
        yield day, last
        day = last + 1


def _left_out(standing: Standing, width: int) -> list[Text]:
    left = standing.plan.left_out
    if standing.everything is None:
        remedy = "No week has the hours for everything."
    else:
        remedy = f"{standing.everything:g} h a week would fit everything."
    if standing.plan.complete:
        return []
    if not left:
        mocks = any(task.kind == "mock" for task in standing.plan.tasks)
        lacking = "every review" if mocks or not standing.frame.mock else "a mock interview"
        told = f"All that is new fits, but not {lacking}. {remedy}"
        return [*wrap(Text(told, style=look.DIM), width, " "), Text("")]
    count = f"{len(left)} problem{'' if len(left) == 1 else 's'}"
    head = f"Left out: {count}, {_time(standing.minutes(*left))}. {remedy}"
    more = len(left) - _LEFT_OUT_SHOWN
    names = [*left[:_LEFT_OUT_SHOWN], *([f"{more} more"] if more > 0 else [])]
    lines = wrap(Text(head), width, " ")
    lines += wrap(Text(", ".join(names), style=look.DIM), width, "   ", "   ")
    return [*lines, Text("")]


def as_json(standing: Standing) -> dict[str, Any]:
    """`days` hold every task; `weeks` are those that the hours are counted by."""
    aim, plan = standing.aim, standing.plan
    into = standing.frame.into
    first = standing.today - timedelta(days=into)
    weeks: dict[date, int] = {}
    days: dict[date, list[Task]] = {}
    for task in plan.tasks:
        day = standing.today + timedelta(days=task.day)
        week = first + timedelta(days=(into + task.day) // 7 * 7)
        weeks[week] = weeks.get(week, 0) + task.minutes
        days.setdefault(day, []).append(task)
    return {
        "format": FORMAT,
        "until": aim.until.isoformat(),
        "hours_per_week": aim.hours,
        "role": aim.role or None,
        "since": aim.since.isoformat(),
        "recall": {"with": round(plan.recall, 4), "without": round(plan.unaided, 4)},
        "today": {
            "date": standing.today.isoformat(),
            "done": [_task(task) for task in standing.done],
            "to_do": [_task(task) for task in plan.tasks if task.day == 0],
        },
        "behind_minutes": round(standing.behind),
        "days": [
            {"date": day.isoformat(), "minutes": _minutes(tasks), "tasks": [*map(_task, tasks)]}
            for day, tasks in sorted(days.items())
        ],
        "weeks": [
            {"from": week.isoformat(), "minutes": minutes}
            for week, minutes in sorted(weeks.items())
        ],
        "left_out": [
            {"question": question, "minutes": standing.minutes(question)}
            for question in plan.left_out
        ],
        "hours_for_everything": standing.everything,
    }


def _task(task: Task) -> dict[str, Any]:
    return {"kind": task.kind, "question": task.question or None, "minutes": task.minutes}


def _minutes(tasks: Sequence[Task]) -> int:
    return sum(task.minutes for task in tasks)


def _time(minutes: float) -> str:
    hours, rest = divmod(round(minutes), 60)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{rest} min"] if rest or not hours else parts)


def _days(count: int) -> str:
    return "tomorrow" if count == 1 else f"in {count} days"


def _named(day: date) -> str:
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"


def _span(first: date, last: date) -> str:
    if first == last:
        return f"{first.day} {_MONTHS[first.month - 1]}"
    month = "" if first.month == last.month else f" {_MONTHS[first.month - 1]}"
    return f"{first.day}{month} to {last.day} {_MONTHS[last.month - 1]}"
