"""The pictures of `drill report`, each with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from drills.html import svg
from drills.screen.safe import one_line

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drills.curves import Made, Period
    from drills.mock.history import Interview
    from drills.progress import Group

WEEKS = 53
LEVELS = (1, 4, 10, 25)  # tries a day, from which a square is darker
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LABELS = 7  # along an axis
_TITLE = 56  # characters of a mistake's title


def days(tries: Mapping[date, int], today: date, description: str) -> Markup:
    """A year of days, a column a week, in two rows so that it can be read on a phone."""
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=WEEKS - 1)
    half = (WEEKS + 1) // 2

    def draw(figure: Figure) -> None:
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        rows: Any = figure.subplots(3, 1, height_ratios=(7, 7, 1.3))
        for axes, weeks in zip(rows, (range(half), range(half, WEEKS)), strict=False):
            squares: list[list[Rectangle]] = [[] for _ in svg.HEAT]
            for column, week in enumerate(weeks):
                for weekday in range(7):
                    day = first + timedelta(weeks=week, days=weekday)
                    if day <= today:
                        squares[_level(tries.get(day, 0))].append(
                            Rectangle((column + 0.06, weekday + 0.06), 0.88, 0.88)
                        )
            for level, patches in enumerate(squares):
                axes.add_collection(PatchCollection(patches, fc=svg.HEAT[level], linewidth=0))
            starts = [first + timedelta(weeks=week) for week in weeks]
            new = [n for n, day in enumerate(starts) if day.day <= 7]
            axes.set_xticks(new, [_MONTHS[starts[n].month - 1] for n in new], ha="left")
            axes.set_yticks((0.5, 2.5, 4.5), ("Mon", "Wed", "Fri"))
            axes.set(xlim=(0, half), ylim=(7, 0), aspect="equal")
            axes.xaxis.tick_top()
            _bare(axes)
        legend = rows[2]
        for level, (low, high) in enumerate(zip((0, *LEVELS), (*LEVELS, None), strict=True)):
            legend.add_patch(Rectangle((level * 5, 0), 1, 1, fc=svg.HEAT[level], linewidth=0))
            words = (
                f"{low}+" if high is None else str(low) if high == low + 1 else f"{low}–{high - 1}"
            )
            legend.text(level * 5 + 1.4, 0.5, words, va="center")
        legend.set(xlim=(0, half), ylim=(1.3, 0), aspect="equal", xticks=(), yticks=())
        _bare(legend)

    return svg.picture("days", "Tries on each day of the last year", description, draw, (4.6, 2.95))


def _level(tries: int) -> int:
    return sum(tries >= least for least in LEVELS)


def _bare(axes: Axes) -> None:
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def topics(groups: Sequence[Group], description: str) -> Markup:
    """How much of each topic is passed, in the order of the path, the first at the top."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        rows = range(len(groups))
        passed = [group.passed / group.questions for group in groups]
        begun = [(group.tried - group.passed) / group.questions for group in groups]
        rest = [1 - a - b for a, b in zip(passed, begun, strict=True)]
        left = [0.0] * len(groups)
        for share, colour, label in (
            (passed, svg.SERIES[2], "passed"),
            (begun, svg.SERIES[1], "tried, not passed"),
            (rest, svg.HEAT[0], "to come"),
        ):
            axes.barh(rows, share, left=left, color=colour, height=0.62, label=label)
            left = [a + b for a, b in zip(left, share, strict=True)]
        axes.set_yticks(rows, [one_line(group.name, 24) for group in groups])
        for row, group in enumerate(groups):
            told = f"{group.passed}/{group.questions}"
            axes.text(1.02, row, told, va="center")
            recall = "" if group.recall is None else f"{group.recall:.0%}"
            axes.text(1.32, row, recall, va="center", ha="right")
        axes.text(1.02, -0.9, "passed", va="center", color=svg.SOFT, fontsize=8)
        axes.text(1.34, -0.9, "recall", va="center", ha="right", color=svg.SOFT, fontsize=8)
        axes.set(xlim=(0, 1.36), ylim=(len(groups) - 0.4, -1.4), xticks=())
        _bare(axes)
        figure.legend(loc="outside lower center", ncols=3, columnspacing=1.2, handlelength=1.2)

    size = (4.6, 0.9 + 0.21 * len(groups))
    return svg.picture("topics", "Topics passed, in the order of the path", description, draw, size)


def learning(periods: Sequence[Period], months: bool, description: str) -> Markup:
    """The share passed at the first try, and predicted recall, by period."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        firsts = [p.first_tries / p.sittings if p.sittings else None for p in periods]
        _line(axes, firsts, 0, "o", "passed at the first try")
        _line(axes, [p.recall for p in periods], 1, "s", "predicted recall")
        axes.set(ylim=(0, 1.04))
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        _dates(axes, periods, months)
        figure.legend(loc="outside lower center", ncols=2)

    return svg.picture("learning", "Passed at the first try, and recall", description, draw)


def pace(periods: Sequence[Period], months: bool, description: str) -> Markup:
    """Time over par, by period."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(1, color=svg.SOFT, linestyle="--", linewidth=1, label="par")
        _line(axes, [p.pace for p in periods], 2, "D", "median time, in par times")
        most = max((p.pace for p in periods if p.pace is not None), default=1)
        axes.set(ylim=(0, max(1.5, most * 1.15)))
        _dates(axes, periods, months)
        figure.legend(loc="outside lower center", ncols=2)

    return svg.picture("pace", "Time against par", description, draw)


def _line(axes: Axes, values: Sequence[float | None], series: int, marker: str, label: str) -> None:
    gaps = [float("nan") if value is None else value for value in values]
    axes.plot(gaps, marker=marker, markersize=4, color=svg.SERIES[series], label=label)


def _dates(axes: Axes, periods: Sequence[Period], months: bool) -> None:
    step = 1 + (len(periods) - 1) // _LABELS
    places = range(0, len(periods), step)
    axes.set_xticks(places, [_short(periods[place].start, months) for place in places])
    axes.set_xlim(-0.5, len(periods) - 0.5)
    axes.grid(axis="y")


def _short(day: date, months: bool) -> str:
    month = _MONTHS[day.month - 1]
    return f"{month}\n{day.year}" if months else f"{day.day} {month}"


def mistakes(made: Sequence[Made], today: date, description: str) -> Markup:
    """When each was made: a line of dots each, filled while it is not gone."""
    first = min(mistake.days[0] for mistake in made)
    span = max(1, (today - first).days)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for row, mistake in enumerate(made):
            axes.axhline(row, color=svg.LINE, linewidth=0.8, zorder=0)
            axes.text(0, row - 0.42, one_line(mistake.title, _TITLE), fontsize=8.5, va="center")
            places = [(day - first).days for day in mistake.days]
            colour = svg.SERIES[2] if mistake.gone else svg.SERIES[1]
            marker = "o" if mistake.gone else "s"
            axes.plot(places, [row] * len(places), marker, markersize=5, color=colour,
                      markerfacecolor="none" if mistake.gone else colour)  # fmt: skip
        for marker, colour, face, label in (
            ("s", svg.SERIES[1], svg.SERIES[1], "may come back"),
            ("o", svg.SERIES[2], "none", "gone since"),
        ):
            axes.plot([], [], marker, color=colour, markerfacecolor=face, label=label, markersize=5)
        ticks = sorted({0, span // 3, 2 * span // 3, span})
        words = [_short_day(first + timedelta(days=tick)) for tick in ticks]
        axes.set_xticks(ticks, words)
        axes.set(xlim=(-0.02 * span, 1.02 * span), ylim=(len(made) - 0.5, -0.8), yticks=())
        _bare(axes)
        figure.legend(loc="outside lower center", ncols=2)

    size = (4.6, 0.8 + 0.42 * len(made))
    return svg.picture("mistakes", "When the commonest mistakes were made", description, draw, size)


def _short_day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def interviews(
    finished: Sequence[Interview], competencies: Sequence[str], description: str
) -> Markup:
    """The scores of each competency, interview by interview."""

    def draw(figure: Figure) -> None:
        lines = (len(competencies) + 1) // 2
        grid: Any = figure.subplots(lines, 2, squeeze=False, sharex=True)
        last = len(competencies) - 2
        for place, (axes, name) in enumerate(zip(grid.flat, competencies, strict=False)):
            axes.tick_params(labelbottom=place >= last)
            scores = [interview.scores.get(name, float("nan")) for interview in finished]
            axes.plot(range(1, len(scores) + 1), scores, marker="o", markersize=4)
            axes.set_title(one_line(name, 24), loc="left", fontsize=9)
            axes.set(ylim=(-0.3, 5.3), yticks=(0, 5), xlim=(0.5, len(finished) + 0.5))
            axes.set_xticks(sorted({1, len(finished)}))
            axes.grid(axis="y")
        for axes in list(grid.flat)[len(competencies) :]:
            axes.set_axis_off()

    size = (4.6, 0.4 + 0.95 * ((len(competencies) + 1) // 2))
    title = "Scores by competency, interview by interview"
    return svg.picture("interviews", title, description, draw, size)
