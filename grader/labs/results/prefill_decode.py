"""What comes of one layer in its two shapes: many tokens at once, and one token over a cache.

Products are 2 FLOP a multiply-add. Bytes are those that have to move at least: each input read
once, each result written once. Attention is 4 B h T S D FLOP (Kaplan et al. 2020, table 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader import fit
from grader.labs import asked
from grader.labs.document import Axis, Panel, Result, Series, Table, si
from grader.labs.results.clock import clock
from grader.labs.roof import Roof

PARTS = (
    "prefill-projections",
    "prefill-attention",
    "prefill-tiled",
    "decode-projections",
    "decode-attention",
)
CONTROL = "control"  # the decode step's attention once more: A/A
ABOVE = 1.1
"""Of the roof: what is beyond was not measured while the roof was."""
ELEMENT = 4  # bytes of float32


@dataclass(frozen=True)
class Work:
    """What one part of the layer has to do."""

    label: str
    flops: int
    bytes: int

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flops / self.bytes


def works(heads: int, head_dim: int, prompt: int, cache: int, whose: str) -> dict[str, Work]:
    """The parts of a layer of width d = heads * head_dim: `prompt` tokens at once, and one token
    over `cache` cached ones. The projections are all four, d x d each."""
    d = heads * head_dim
    scored = 4 * heads * prompt * prompt * head_dim
    prefill_bytes = ELEMENT * 4 * prompt * d
    return {
        "prefill-projections": Work(
            "prefill, projections", 8 * prompt * d * d, ELEMENT * (5 * prompt * d + 4 * d * d)
        ),
        "prefill-attention": Work(f"prefill, {whose}", scored, prefill_bytes),
        "prefill-tiled": Work("prefill, in tiles", scored, prefill_bytes),
        "decode-projections": Work("decode, projections", 8 * d * d, ELEMENT * (5 * d + 4 * d * d)),
        "decode-attention": Work(
            f"decode, {whose}", 4 * cache * d, ELEMENT * (2 * cache * d + 2 * d)
        ),
    }


def result(data: Mapping[str, Any], whose: str) -> Result:
    """`data` as `grader.labs.prefill_decode.measure` returns it."""
    roof = Roof.of(data["roof"])
    label = "attention" if whose == "the reference" else whose
    heads, width = int(data["heads"]), int(data["head_dim"])
    prompt, cache = int(data["prompt"]), int(data["cache"])
    parts = works(heads, width, prompt, cache, label)
    seconds, errors = data["seconds"], data["standard_errors"]
    times = {name: (float(seconds[name]), float(errors[name])) for name in PARTS}
    rate = {name: parts[name].flops / times[name][0] for name in PARTS}
    moved = {name: parts[name].bytes / times[name][0] for name in PARTS}
    reached = {name: rate[name] / roof.at(parts[name].intensity) for name in PARTS}
    bound = {n: "memory" if w.intensity < roof.ridge else "compute" for n, w in parts.items()}
    control = fit.control_spread([seconds["decode-attention"]], [seconds[CONTROL]])
    derived = {
        "ridge_flop_per_byte": roof.ridge,
        "control_spread": control,
        "parts": {
            name: {
                "flops": work.flops,
                "bytes": work.bytes,
                "intensity": work.intensity,
                "flops_per_second": rate[name],
                "bytes_per_second": moved[name],
                "share_of_roof": reached[name],
                "bound": bound[name],
            }
            for name, work in parts.items()
        },
    }
    rows = tuple(
        (
            work.label,
            si(work.intensity),
            si(times[name][0], "s"),
            si(rate[name], "FLOP/s", digits=2),
            si(moved[name], "B/s"),
            f"{reached[name]:.0%}",
            bound[name],
        )
        for name, work in parts.items()
    )
    columns = ("", "FLOP/B", "time", "FLOP/s", "bytes/s", "of roof", "bound")
    over = [parts[name].label for name in PARTS if reached[name] > ABOVE]
    return Result(
        "Prefill and decode on this machine's roofline",
        derived,
        Table(columns, rows),
        _panels(parts, rate, roof),
        (
            f"{heads} heads of width {width}, float32; prefill of {prompt:,} tokens, decode over"
            f" {cache:,} cached ones; attention is {whose}.",
            clock(data, whose) + " Bytes: each input and result once.",
        ),
        (
            f"This machine, one thread: {si(roof.flops, 'FLOP/s')} and {si(roof.bandwidth, 'B/s')},"
            f" so the ridge is at {roof.ridge:.1f} FLOP/byte.",
            f"Prefill attention has {parts['prefill-attention'].intensity:.0f} FLOP/byte"
            f" ({bound['prefill-attention']}-bound), decode"
            f" {parts['decode-attention'].intensity:.2g} ({bound['decode-attention']}-bound).",
        ),
        tuple(_questions(parts, times, roof, bound)),
        fit.doubts(control)
        + tuple(
            f"{label} came out above the roof: the machine was busy while the roof was measured, or"
            " a cache holds what it reads. Measure again."
            for label in over
        ),
    )


def _panels(parts: dict[str, Work], rate: dict[str, float], roof: Roof) -> tuple[Panel]:
    intensities = [work.intensity for work in parts.values()]
    ends = (min(intensities) / 2, roof.ridge, max(*intensities, roof.ridge) * 2)
    series = (
        Series("roof of this machine", ends, [roof.at(x) for x in ends], line=True),
        *(Series(work.label, [work.intensity], [rate[name]]) for name, work in parts.items()),
    )
    return (
        Panel("Roofline", Axis("arithmetic intensity (FLOP per byte)"),
              Axis("achieved rate", "FLOP/s"), series),
    )  # fmt: skip


def _questions(
    parts: dict[str, Work],
    times: dict[str, tuple[float, float]],
    roof: Roof,
    bound: dict[str, str],
) -> Sequence[dict[str, Any]]:
    decode = parts["decode-attention"]
    prefill, step = times["prefill-projections"], times["decode-projections"]
    memory = bound["decode-attention"] == "memory"
    return [
        asked.number(
            "ridge",
            "At how many FLOP per byte is the ridge of this machine's roofline?",
            roof.ridge,
            "FLOP/byte",
            f"{si(roof.flops, 'FLOP/s')} / {si(roof.bandwidth, 'B/s')} = {roof.ridge:.1f}.",
        ),
        asked.choice(
            "bound",
            "What bounds the decode step's attention on this machine?",
            (
                ("The peak FLOP/s.", "Compare its intensity with the ridge."),
                ("The bandwidth of memory.", "Compare its intensity with the ridge."),
                ("Neither: what every call costs.", "The cache is far too large for that."),
            ),
            1 if memory else 0,
            f"It has {decode.intensity:.2g} FLOP/byte, the ridge is at {roof.ridge:.1f}.",
        ),
        asked.number(
            "batch",
            "The projections of a decode step in float32: how many sequences must be decoded"
            " together for the weights' 2 FLOP a weight and sequence to reach the ridge?",
            2 * roof.ridge,
            "none",
            f"With n sequences each weight of 4 bytes gives 2 n FLOP: n / 2 = {roof.ridge:.1f} at"
            f" n = {2 * roof.ridge:.1f}. This is why servers batch decodes.",
        ),
        asked.number(
            "per-token",
            "How many times longer do the projections take for a token in decode than for a token"
            " in prefill (time over tokens)?",
            step[0] / (prefill[0] / _tokens(parts)),
            "none",
            "The FLOP for a token are the same: in prefill the weights are read once for all.",
            step[1] / step[0] + prefill[1] / prefill[0],
        ),
    ]


def _tokens(parts: dict[str, Work]) -> float:
    return parts["prefill-projections"].flops / parts["decode-projections"].flops
