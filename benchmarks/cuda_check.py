"""What the Triton references do on this GPU, and whether cheating kernels are seen through.

Usage: python benchmarks/cuda_check.py [--out FILE] [--seconds N] [--only SECTION ...] [--tune D]

Sections: support (which shapes are right, which are slow), memory (how the peak grows with length),
launches (kernels a call), speed (against torch's own, by turns), cheats (each must be refused).
Prints tables, and writes all of it as JSON with --out. Takes less than five minutes; what there is
no time for is listed as not measured. --tune tries other cuts of the attention kernel
for a head width instead.

Exits with 0 where everything that was asked for was measured and holds, else with 1. Without a GPU
nothing is measured and nothing claimed, and it exits with 0.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

# In place of this folder, whose `cuda` would hide a package of that name from torch and Triton.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

ORDER = ("launches", "memory", "speed", "cheats", "support")  # the longest last


class Check:
    """One run: its device, its deadline, what was found, and what does not hold."""

    def __init__(self, seconds: float) -> None:
        import torch

        from benchmarks.cuda.device import Cuda
        from benchmarks.cuda.roofline import measured
        from reference.kernels.triton_attention import fused_attention
        from reference.kernels.triton_decode import fused_decode
        from reference.kernels.triton_paged import paged_decode
        from reference.kernels.triton_softmax import fused_softmax

        self.ends = time.monotonic() + seconds
        torch.set_float32_matmul_precision("highest")
        self.device = Cuda()
        self.ours: dict[str, Callable[..., Any]] = {
            "attention": fused_attention,
            "decode": fused_decode,
            "paged": paged_decode,
            "softmax": fused_softmax,
        }
        self.name = torch.cuda.get_device_name()
        self.peaks = measured(self.device, self.name)
        self.failures: list[str] = []

    def left(self) -> float:
        return self.ends - time.monotonic()

    def launches(self) -> Any:
        import torch

        from benchmarks.cuda import problems
        from benchmarks.cuda.launches import launched
        from benchmarks.cuda.problems import Caches, Shape

        place, bf16 = self.device.place, torch.bfloat16
        shape = Shape(1, 8, 8, 1024, 1024, 128, True, bf16)
        sizes = Caches(2, 8, 2, 1024, 128, bf16)
        rows = problems.softmax(256, 1024, bf16, place)
        inputs = {
            "attention": problems.attention_inputs(shape, place, 0),
            "decode": problems.decode_inputs(sizes, place, 0),
            "paged": problems.paged_inputs(sizes, place, 0),
            "softmax": rows.make(0),
        }
        wanted = {"attention": 1, "decode": 2, "paged": 2, "softmax": 1}
        found = {}
        for kind, few in wanted.items():
            names = launched(lambda kind=kind: self.ours[kind](*inputs[kind]))
            found[f"reference {kind}"] = names
            print(f"  reference {kind:10} {len(names)} kernels, {few} wanted")
            if len(names) != few:
                self.failures.append(f"launches: {kind} takes {len(names)} kernels, not {few}")
        for name, function in (
            ("torch fused attention", problems.attention_fused),
            ("naive attention", problems.attention_naive),
        ):
            found[name] = launched(lambda f=function: f(*inputs["attention"]))
            print(f"  {name:20} {len(found[name])} kernels")
        return found

    def memory(self) -> Any:
        from benchmarks.cuda import growth, problems

        subjects = {
            "naive": problems.attention_naive,
            "reference": self.ours["attention"],
            "torch fused": problems.attention_fused,
        }
        found = growth.slopes(subjects, self.device.place)
        for name, (slope, peaks) in found.items():
            most = f"{peaks[-1] / 2**20:.0f} MiB at {growth.LENGTHS[-1]}"
            print(f"  {name:12} slope {slope:.2f}, {most}")
        if found["reference"][0] > 1.1:
            self.failures.append("memory: the reference grows faster than linearly")
        if found["naive"][0] < 1.7:
            self.failures.append("memory: naive attention is not seen to be quadratic")
        return {name: {"slope": s, "peak_bytes": peaks} for name, (s, peaks) in found.items()}

    def speed(self) -> Any:
        from benchmarks.cuda import speed

        held, left = [], 0
        for one in speed.contests(self.ours, self.device.place):
            if self.left() < 60:
                left += 1
                continue
            speed.hold(one, self.device, self.peaks, rounds=12)
            held.append(one)
            print("\n".join(f"  {line}" for line in speed.table([one])), flush=True)
            if one.found[speed.OURS].refused or one.found[speed.FUSED].refused:
                self.failures.append(f"speed: a subject of {one.problem.name} was refused")
            elif not one.steady:
                self.failures.append(f"speed: {one.problem.name} was unsteady")
            elif one.bar and one.speed(speed.OURS)[0] < one.bar:
                self.failures.append(f"speed: {one.problem.name} misses the bar")
        if left:
            self.failures.append(f"speed: no time for {left} problems")
        return {"contests": speed.as_json(held), "not_measured": left}

    def cheats(self) -> Any:
        from dataclasses import replace

        from benchmarks.cuda import speed

        shape = replace(speed.BAR_SHAPE, batch=1)
        found = speed.refusals(self.device, shape, self.peaks)
        for name, reason in found.items():
            verdict = reason and f"refused, {reason}"
            print(f"  {name:38} {verdict or 'accepted'}")
            if name != "honest" and not reason:
                print(f"  {name:38} GOT THROUGH")
                self.failures.append(f"cheats: {name} got through")
            if name == "honest" and reason:
                self.failures.append("cheats: the honest kernel was refused")
        return found

    def support(self) -> Any:
        from benchmarks.cuda import support

        cells, left = support.check(
            self.ours["attention"], self.device, support.shapes(), enough=lambda: self.left() < 5
        )
        print("\n".join(f"  {line}" for line in support.table(cells, left)))
        if left:
            self.failures.append(f"support: no time for {left} shapes")
        self.failures += [f"support: {c.shape.name} fails" for c in cells if c.failure]
        return support.as_json(cells, left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="writes what was found as JSON")
    parser.add_argument("--seconds", type=float, default=285.0)
    parser.add_argument("--only", nargs="+", choices=ORDER, default=list(ORDER))
    parser.add_argument(
        "--tune", type=int, metavar="D", help="tries other cuts of the kernel for this head width"
    )
    asked = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        print("No CUDA device is present, so nothing was measured and nothing is claimed.")
        return 0
    try:
        import triton
    except ImportError:
        print("Triton is missing, so nothing was measured: pip install 'attention-drill[triton]'.")
        return 1
    check = Check(asked.seconds)
    print(f"{check.name}, torch {torch.__version__}, Triton {triton.__version__}, {check.peaks}")
    if asked.tune:
        from benchmarks.cuda.tune import sweep

        for rate, launch in sweep(check.device, asked.tune):
            print(f"  {rate:6.0f} TFLOP/s  {launch}")
        return 0
    from benchmarks.cuda.warm import compile_all

    short = compile_all(min(120.0, check.left() / 2))
    if short:
        print(f"Not all kernels were compiled ahead: {short}")
    found: dict[str, Any] = {
        "format": 1,
        "device": check.name,
        "versions": {"torch": torch.__version__, "triton": triton.__version__,
                     "cuda": torch.version.cuda, "python": platform.python_version()},
        "peaks": vars(check.peaks),
        "seconds_compiling": asked.seconds - check.left(),
    }  # fmt: skip
    for section in [name for name in ORDER if name in asked.only]:
        print(f"\n{section}", flush=True)
        begun = time.monotonic()
        try:
            found[section] = getattr(check, section)()
        except Exception:
            # The others can still be measured.
            found[section] = {"error": traceback.format_exc()}
            print(found[section]["error"])
            check.failures.append(f"{section}: stopped by an error")
        print(f"  ({time.monotonic() - begun:.0f} s)", flush=True)
    found["failures"] = check.failures
    found["seconds"] = asked.seconds - check.left()
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1))
    print("\n" + ("\n".join(check.failures) or "Everything asked for was measured, and holds."))
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
