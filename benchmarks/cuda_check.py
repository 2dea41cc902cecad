"""Whether `drill grade --device cuda` holds on this GPU, by the grader itself.

Usage: python benchmarks/cuda_check.py [--out FILE] [--seconds N] [--only SECTION ...] [--tier N]

Sections, each by grades as a learner's are: references (the Triton kernels of `reference/kernels`:
every shape and dtype right, kernels launched, memory, speed against torch's own), honest (right
kernels in Triton and in CUDA C++, of `tests/`), cheats (each must be refused, or gain nothing).
Prints what was found, and writes the reports as JSON with --out. What there is no time for is
listed as not measured; --seconds gives more, and --only what is left. --tier asks for a lower tier
of the isolation, so that what the sandbox keeps the driver from can be told from what the measuring
gets wrong.

Exits with 0 where everything that was asked for was measured and holds, else with 1. Without a GPU
nothing is measured and nothing claimed, and it exits with 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from drills import devices  # noqa: E402
from grader.report import Report  # noqa: E402
from grader.session import Grader  # noqa: E402
from questions.loader import DEFAULT_ROOT, load_file  # noqa: E402

SEED = 7
SECONDS = 200.0  # after which no grade begins: most take a minute, so that all ends within five
SECTIONS = ("references", "cheats", "honest")
REFERENCES = {
    "fused-softmax": "triton_softmax",
    "fused-attention": "triton_attention",
    "fused-decode": "triton_decode",
    "paged-decode-kernel": "triton_paged",
}
BAR = ("fused-attention", 0.7)
"""The reference's speed at head width 128, causal, bfloat16, length 4096, as a part of torch's."""

ON_THE_DEVICE = "import torch; torch.set_default_device({place!r})\n"
"""Before a file that was written for the CPU: the tensors that it makes are the device's too."""

CPU_ALONE = ("busy_between", "work_in_a_thread")  # a thread makes its tensors on the CPU
BURNT = 0.09  # seconds a call that a file which says so burns: what is charged shows them
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Try:
    """One grade. `wanted` is a verdict, or a word of the hostile kernels (`test_kernel_cheats`)."""

    name: str
    question: dict[str, Any]
    source: bytes
    wanted: str = "passed"


def question(id_: str) -> dict[str, Any]:
    (path,) = DEFAULT_ROOT.glob(f"*/{id_}.yaml")
    return load_file(path).model_dump(mode="json")


def lenient() -> dict[str, Any]:
    """Fused attention by values and clocks alone: cheats in plain torch launch many kernels."""
    asked = question("fused-attention")
    sizes = {"B": 1, "H": 2, "H_kv": 1, "T": 256, "S": 256, "D": 16}
    asked |= {"support": asked["support"][:3], "paths": None}
    cuda = asked["cuda"]
    speed = {**cuda["speed"], "sizes": sizes, "dtype": "float32"}
    slope = {**cuda["slope"], "sizes": sizes, "lengths": [512, 1024, 2048]}
    return {**asked, "cuda": {**cuda, "launches": 10_000, "speed": speed, "slope": slope}}


def alone(module: str) -> bytes:
    """A module of `reference.kernels` with all that it takes from the others there, in one file."""
    seen: list[str] = []
    pattern = re.compile(r"^from reference\.kernels\.(\w+) import (?:\([^)]*\)|[^\n]*)\n", re.M)

    def whole(name: str) -> str:
        if name in seen:
            return ""
        seen.append(name)
        text = (ROOT / "reference" / "kernels" / f"{name}.py").read_text(encoding="utf-8")
        others = "".join(whole(other) for other in pattern.findall(text))
        return others + pattern.sub("", text).replace("from __future__ import annotations\n", "")

    return ("from __future__ import annotations\n" + whole(module)).encode()


def references() -> Iterator[Try]:
    for id_, module in REFERENCES.items():
        yield Try(f"{module} for {id_}", question(id_), alone(module))


def honest() -> Iterator[Try]:
    for folder in ("honest_cuda", "honest_triton"):
        for path in sorted((TESTS / folder).glob("*/*.py")):
            id_ = path.parent.name
            yield Try(f"{folder}/{id_}/{path.stem}", question(id_), path.read_bytes())


def cheats(place: str = "cuda") -> Iterator[Try]:
    asked = lenient()
    paths = sorted((TESTS / "hostile" / "kernels").glob("*.py"))
    for path in [path for path in paths if path.stem not in CPU_ALONE]:
        text = path.read_bytes()
        wanted = text[2:].partition(b":")[0].decode()
        yield Try(path.stem, asked, ON_THE_DEVICE.format(place=place).encode() + text, wanted)
    for path in sorted((TESTS / "hostile" / "cuda_kernels").glob("*.py")) * (place == "cuda"):
        text = path.read_bytes()
        yield Try(path.stem, asked, text, text[2:].partition(b":")[0].decode())


def failure(one: Try, report: Report) -> str:
    """Why the report is not what was wanted, or nothing."""
    speed = report.speed
    if one.wanted == "charged":
        if report.verdict == "passed" and speed is not None and speed.cpu_seconds > BURNT:
            return ""
        return f"{report.verdict}, and what it burns was not charged"
    if one.wanted == "refused":  # by its values, or by its clocks
        told = report.verdict == "passed" and speed is not None and speed.tier
        return "its speed was believed" if told else ""
    if report.verdict != one.wanted:
        wrong = [f"{c.id}: {c.verdict}" for c in report.checks if c.verdict not in GOOD][:5]
        return f"{report.verdict} in place of {one.wanted} ({'; '.join(wrong) or report.summary})"
    if one.wanted == "passed" and any(c.verdict == "not_run" for c in report.checks if _own(c.id)):
        return "a stage was not run"
    if one.question["id"] == BAR[0] and one.name.startswith("triton_attention"):
        if speed is None or speed.unreliable:
            return "no speed was told"
        part = 1 / speed.times_fused[0]
        if part < BAR[1]:
            return f"{part:.2f} of the speed of torch's fused attention, and {BAR[1]} is asked for"
    return ""


GOOD = ("passed", "not_run", "skipped")


def _own(check: str) -> bool:
    """Whether a check is one of this device's."""
    return check not in ("device/cpu", "device/interpret")


def lines(report: Report) -> Iterator[str]:
    """What was measured."""
    speed = report.speed
    yield f"{report.verdict}: {report.summary}"
    support = [c for c in report.checks if c.id.startswith("support")]
    if support:
        right = sum(c.verdict == "passed" for c in support)
        yield f"{right} of {len(support)} shapes and dtypes right"
    counted = [c for c in report.checks if c.id in ("kernels", "growth")]
    yield from (check.message for check in counted if check.verdict != "skipped")
    if speed is not None and speed.unreliable:
        yield speed.unreliable
    elif speed is not None:
        yield (
            f"{speed.times_naive[0]:.2f} x naive's speed, {1 / speed.times_fused[0]:.2f} of torch's"
            f" fused one's, {1e6 * speed.cpu_seconds:.0f} us, tier: {speed.tier or 'undecided'}"
        )
    for path in report.paths.shapes if report.paths else ():
        if path.slow:
            yield f"slow path: {path.title}, {path.times[0]:.1f} x"


def write(path: Path | None, found: dict[str, Any]) -> None:
    """The reports so far, as JSON."""
    if path is not None:
        path.write_text(json.dumps(found, indent=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="writes the reports as JSON")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--match", default="", help="only what has this in its name")
    parser.add_argument("--tier", type=int, default=3, choices=(1, 2, 3))
    parser.add_argument("--accelerator", default="cuda", help="tests: stand-in")
    asked = parser.parse_args()
    on_cuda = asked.accelerator == "cuda"
    lacking, _ = devices.without_cuda() if on_cuda else ("", "")
    if lacking:
        print(f"Nothing was measured and nothing is claimed: {lacking}.")
        return 0
    if on_cuda and importlib.util.find_spec("triton") is None:
        print("Triton is missing, so nothing was measured: pip install 'attention-drill[triton]'.")
        return 1
    made = {
        "references": references,
        "honest": honest,
        "cheats": lambda: cheats("cuda" if on_cuda else "cpu"),
    }
    ends = time.monotonic() + asked.seconds
    found: dict[str, Any] = {"format": 2, "failures": [], "not_measured": [], "reports": {}}
    found["isolation"] = []
    with Grader(highest=asked.tier, accelerator=asked.accelerator) as grader:
        for section in [name for name in SECTIONS if name in asked.only]:
            print(f"\n{section}", flush=True)
            for one in made[section]():
                if asked.match not in one.name:
                    continue
                if time.monotonic() > ends:
                    found["not_measured"].append(one.name)
                    continue
                began = time.monotonic()
                report = grader.grade(
                    one.question, one.source, SEED, f"{section}.py", device="cuda"
                )
                why = failure(one, report)
                found["reports"][one.name] = report.to_json()
                if why:
                    found["failures"].append(f"{section}: {one.name}: {why}")
                found["isolation"] = list(grader.policy.layers(1.0))
                write(asked.out, found)  # each time: who is stopped keeps what was found
                print(f"  {one.name}, {time.monotonic() - began:.0f} s", flush=True)
                print("\n".join(f"      {line}" for line in lines(report)))
                if report.verdict in ("grader_error", "not_run"):
                    print(report.output)
                if why:
                    print(f"      NOT AS WANTED: {why}", flush=True)
                if report.verdict == "not_run":
                    ends = 0.0  # so would all others be
    write(asked.out, found)
    print("\n" + "\n".join(found["isolation"]))
    missing = [f"not measured, for want of time: {name}" for name in found["not_measured"]]
    print("\n" + ("\n".join([*found["failures"], *missing]) or "All was measured, and holds."))
    return 1 if found["failures"] or missing else 0


if __name__ == "__main__":
    sys.exit(main())
