"""Panels as PNG and SVG, by matplotlib: imported when a lab has something to draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills import home
from drills.screen.plot import round_numbers
from grader.labs.document import si

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 150
PANEL = (6.4, 5.0)  # inches
# Told apart by those who see few colours too: Okabe and Ito, "Color Universal Design" (2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "osD^vP"
DASHES = ("--", ":", "-.")
GREY = "#555555"
DARK = "#222222"
_MANY_TICKS = 8


def paths(folder: Path, name: str) -> list[Path]:
    """Where `write` draws."""
    return [folder / f"{name}.{kind}" for kind in ("png", "svg")]


def write(
    title: str, panels: Sequence[Mapping[str, Any]], caption: str, folder: Path, name: str
) -> list[Path]:
    """Draw `grader.labs.document.Panel`s (as JSON) side by side into NAME.png and NAME.svg.

    Raises OSError where the folder cannot be written, ImportError without matplotlib.
    """
    home.settle_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Words stay words in the SVG; its ids and date do not change from run to run.
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "drill", "font.size": 10}
    with matplotlib.rc_context(settings):
        width = PANEL[0] * len(panels) + (1.0 if len(panels) == 1 else 0.0)
        lines = textwrap.wrap(caption, round(width * 13))
        figure = Figure(figsize=(width, PANEL[1] + 0.2 * len(lines)), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=14, fontweight="bold")
        for axes, panel in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            _draw(axes, panel)
        figure.supxlabel("\n".join(lines), fontsize=8.5, color=GREY)
        png, svg = paths(folder, name)
        figure.savefig(png, dpi=DPI, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None})
    return [png, svg]


def _draw(axes: Axes, panel: Mapping[str, Any]) -> None:
    points = lines = 0
    for one in panel["series"]:
        if one["line"]:
            axes.plot(one["x"], one["y"], DASHES[lines % len(DASHES)], color=DARK, linewidth=1.5,
                      label=one["label"], zorder=3)  # fmt: skip
            lines += 1
            continue
        style: Any = {
            "color": COLOURS[points % len(COLOURS)],
            "marker": MARKERS[points % len(MARKERS)],
        }
        error = list(one["error"]) or None
        alone = len(one["x"]) == 1
        axes.errorbar(one["x"], one["y"], yerr=error, capsize=3, markersize=9 if alone else 6,
                      linewidth=1.3, linestyle="none" if alone else "-", label=one["label"],
                      **style)  # fmt: skip
        points += 1
    axes.set_title(panel["title"], fontsize=11)
    _axis(axes, panel["x"], "x")
    _axis(axes, panel["y"], "y")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    # Below: there is no data that it could hide.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9, frameon=False)


def _axis(axes: Axes, axis: Mapping[str, Any], which: str) -> None:
    """Scale, name with unit, and ticks: the measured sizes, else round numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    along = axes.xaxis if which == "x" else axes.yaxis
    if axis["log"]:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    if axis["log"]:
        low, high = math.log10(low), math.log10(high)
    ticks = axis["ticks"] or round_numbers(low, high, axis["log"])
    along.set_label_text(axis["label"])
    along.set_major_locator(FixedLocator(ticks[:: 1 + len(ticks) // (_MANY_TICKS + 1)]))
    along.set_minor_locator(NullLocator())
    # The unit stands at each tick, with its prefix: 10 ms.
    along.set_major_formatter(FuncFormatter(lambda value, _: si(value, axis["unit"])))
