"""drill plan: what to do on which day until an interview."""

from __future__ import annotations

import re
from datetime import date

import click

from drills import clock, plan, plan_facts
from drills.app import App
from drills.errors import DrillError
from drills.mock.roles import ROLES
from drills.options import json_option, pass_app
from drills.screen import console
from drills.screen.safe import one_line

_EXAMPLE = "drill plan --until 2027-01-15 --hours-per-week 6"


@click.command()
@click.option("--until", metavar="DATE", help="The day of the interview, e.g. 2027-01-15.")
@click.option("--hours-per-week", metavar="N", help="The time there is, e.g. 6 or 7.5.")
@click.option("--role", type=click.Choice(sorted(ROLES)), help="Its topics come first.")
@click.option("--clear", is_flag=True, help="Forget the plan.")
@json_option
@pass_app
def command(
    app: App,
    until: str | None,
    hours_per_week: str | None,
    role: str | None,
    clear: bool,
    as_json: bool,
) -> int:
    """Plan until an interview: what to review and what to take new, within so many hours a week.

    Without options the plan that is on, made anew from what was done since. While one is on,
    drill next brings back early what would be forgotten by that day.
    """
    if clear:
        return _clear(app)
    today = plan_facts.local(clock.now())
    chosen = aim = plan_facts.aim(app)
    if until is not None or hours_per_week is not None or role is not None:
        chosen = _changed(aim, until, hours_per_week, role, today)
    if chosen is None:
        raise DrillError(f"No plan is on. {_EXAMPLE} makes one.")
    if chosen.until <= today:
        passed = "is today" if chosen.until == today else "has passed"
        raise DrillError(
            f"The day that was planned for, {chosen.until}, {passed}: "
            "drill plan --clear forgets it, drill plan --until DATE plans for another."
        )
    standing = plan_facts.standing(app, chosen)
    if chosen is not aim:
        plan_facts.remember(app, chosen)
    from drills.screen import plan as screen

    if as_json:
        console.print_json(screen.as_json(standing))
    else:
        screen.print_plan(standing)
    return 0


def _clear(app: App) -> int:
    if plan_facts.aim(app) is None:
        console.say("No plan was on.")
        return 0
    app.store.require_recording("plan --clear")
    app.note(plan_facts.QUESTION, "cleared")
    console.say("The plan is forgotten; what you did for it stays.\nNext: drill next")
    return 0


def _changed(
    aim: plan_facts.Aim | None,
    until: str | None,
    hours: str | None,
    role: str | None,
    today: date,
) -> plan_facts.Aim:
    """The plan that is on with what was named in place; a new one needs its date and its hours."""
    if aim is None and (until is None or hours is None):
        raise DrillError(f"A plan needs its date and its hours, e.g. {_EXAMPLE}")
    date_ = aim.until if aim and until is None else _date(until or "", today)
    hours_ = aim.hours if aim and hours is None else _hours(hours or "")
    return plan_facts.Aim(date_, hours_, role or (aim.role if aim else ""), today)


def _date(text: str, today: date) -> date:
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise ValueError
        day = date.fromisoformat(text)
    except ValueError:
        shown = one_line(text, 40)
        raise DrillError(
            f'"{shown}" is no date: write it as year-month-day, e.g. 2027-01-15.'
        ) from None
    days = (day - today).days
    if days < 0:
        raise DrillError(f"{day} has passed: name a day from tomorrow on.")
    if days == 0:
        raise DrillError(f"{day} is today, too late to plan: drill next serves what is due.")
    if days > plan.MOST_DAYS:
        raise DrillError(f"{day} is more than a year ahead: plan for a day within a year.")
    return day


def _hours(text: str) -> float:
    fits = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", text, re.ASCII) is not None
    hours = float(text) if fits else 0.0
    if not plan.STEP <= hours <= plan.MOST_HOURS or hours % plan.STEP:
        shown = one_line(text, 20)
        raise DrillError(
            f'"{shown}" hours a week cannot be planned: name a whole or half number '
            f"from {plan.STEP:g} to {plan.MOST_HOURS:g}."
        )
    return hours
