"""Pictures for a page: matplotlib's SVG without what a page has no use for.

Colours are names here and CSS variables in the page (see style.css), so that one picture is right
on light and on dark paper, and in print.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from drills import home

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

# Stand-ins, each of which becomes a variable of style.css: matplotlib takes colours only.
INK = "#010001"
SOFT = "#010002"
LINE = "#010003"
PAPER = "#010004"
SERIES = ("#010005", "#010006", "#010007", "#010008")
HEAT = ("#010009", "#01000a", "#01000b", "#01000c", "#01000d")  # none to most
_VARIABLES = {
    INK: "currentColor",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    PAPER: "var(--paper)",
    **{colour: f"var(--series-{n})" for n, colour in enumerate(SERIES, 1)},
    **{colour: f"var(--heat-{n})" for n, colour in enumerate(HEAT)},
}
SIZE = (4.6, 2.6)  # inches: on a phone as wide as the page, so that its words can be read there

_STYLE = {
    "svg.fonttype": "none",  # words stay words
    "text.parse_math": False,  # a dollar in a title is a dollar
    "font.family": ["DejaVu Sans"],  # for the room that words take; the page sets its own
    "font.size": 9,
    "axes.titlesize": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.titlecolor": INK,
    "axes.prop_cycle": "",  # set below, where matplotlib is
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def picture(
    name: str,
    title: str,
    description: str,
    draw: Callable[[Figure], None],
    size: tuple[float, float] = SIZE,
) -> Markup:
    """What `draw` puts on an empty figure of `size` (inches), as an <svg> for a page.

    `title` and `description` are for those who do not see it; `name` must differ from those of the
    page's other pictures. `draw` takes its colours from this module, none with an alpha. The same
    drawing gives the same text.
    """
    home.settle_matplotlib()
    import matplotlib
    from cycler import cycler
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    cycle = cycler("color", SERIES)
    style = {**_STYLE, "svg.hashsalt": name, "axes.prop_cycle": cycle}
    with matplotlib.rc_context(style), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.simplefilter("ignore")  # signs that its font lacks: the reader's has them
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return _inline(written.getvalue(), name, title, description)


def _inline(svg: str, name: str, title: str, description: str) -> Markup:
    from markupsafe import Markup

    size = re.search(r'viewBox="([^"]*)"', svg)
    body = re.search(r"<svg[^>]*>(.*)</svg>", svg, re.DOTALL)
    assert size
    assert body
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", body[1], flags=re.S)
    text = _ids(text.replace("xlink:href", "href"), name)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    text = re.sub(r"\n(?=[A-Za-z\"] ?)", "", text)  # within the data of a path
    text = re.sub(r"\n\s*", "\n", text).strip()
    head = Markup(
        '<svg class="picture" viewBox="{size}" role="img" '
        'aria-labelledby="{name}-title {name}-description">\n'
        '<title id="{name}-title">{title}</title>\n'
        '<desc id="{name}-description">{description}</desc>\n'
    ).format(size=size[1], name=name, title=title, description=description)
    return head + Markup(text) + Markup("\n</svg>")  # matplotlib escapes its words


def _ids(text: str, name: str) -> str:
    """The ids that something refers to, with the picture's name before them; no others."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))

    def keep(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in used else ""

    text = re.sub(r' id="([^"]*)"', keep, text)
    return re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", text)
