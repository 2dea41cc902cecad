"""How fast the Triton attention is for each way to cut it, beside each of torch's own backends.

Usage: python benchmarks/cuda_launches.py [--out FILE] [--width D] [--length N]

Straight on the GPU, without the grader's sandbox: to choose what stands in
`reference.kernels.triton_attention.LAUNCHES`, and to know which backend torch's own function takes.
Causal, bfloat16, four query heads to a key/value head. Every result is compared with torch's; each
time is the median of many calls whose arguments are not in the cache. Needs torch and Triton alone.
Without a GPU nothing is measured, and it exits with 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

import torch  # noqa: E402
from torch import Tensor  # noqa: E402

BATCH, HEADS, KV_HEADS = 2, 16, 4
CUTS = [
    *((128, 128, 8, 2), (128, 128, 8, 3), (128, 64, 8, 2), (128, 64, 8, 3), (128, 64, 8, 4)),
    *((128, 64, 4, 3), (64, 128, 4, 2), (64, 64, 4, 2), (64, 64, 4, 3), (128, 32, 8, 4)),
]
"""Queries of a program, keys of a step, warps, steps on their way."""
CALLS, SETS = 30, 4

Call = Callable[[Tensor, Tensor, Tensor], Tensor]


def of_torch() -> Iterator[tuple[str, Call]]:
    """torch's own function, as it chooses, and by each backend alone."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from reference.kernels import fused

    def by(backend: SDPBackend) -> Call:
        def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            with sdpa_kernel(backend):
                return fused.attention(q, k, v, True)

        return call

    yield "torch's choice", lambda q, k, v: fused.attention(q, k, v, True)
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
        yield backend.name, by(backend)


def of_triton(width: int) -> Iterator[tuple[str, Call]]:
    """The reference as it stands, and cut in other ways."""
    from reference.kernels import triton_attention as ours

    chosen = ours.launch_for(width, torch.bfloat16, torch.device("cuda"))
    others = [ours.Launch(*cut) for cut in CUTS]
    for launch in (chosen, *(launch for launch in others if launch != chosen)):
        name = f"{launch.block_m} x {launch.block_n}, {launch.num_warps} warps, "
        name += f"{launch.num_stages} stages{', as it stands' * (launch is chosen)}"
        yield name, lambda q, k, v, launch=launch: ours.attend(q, k, v, True, launch)  # type: ignore[misc]


def seconds(call: Call, arguments: list[tuple[Tensor, Tensor, Tensor]]) -> float:
    """The median time of a call, by the GPU's clock."""
    cuda: Any = torch.cuda
    for one in arguments:
        call(*one)
    marks = []
    for n in range(CALLS):
        first, last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        first.record()
        call(*arguments[n % SETS])
        last.record()
        marks.append((first, last))
    torch.cuda.synchronize()
    return statistics.median(first.elapsed_time(last) for first, last in marks) / 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="writes what was found as JSON")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--length", type=int, default=4096)
    asked = parser.parse_args()
    if not torch.cuda.is_available() or importlib.util.find_spec("triton") is None:
        print("Nothing was measured: torch sees no GPU here, or Triton is not installed.")
        return 0
    shapes = [(BATCH, heads, asked.length, asked.width) for heads in (HEADS, KV_HEADS, KV_HEADS)]
    torch.manual_seed(7)
    made = [
        tuple(torch.randn(shape, dtype=torch.bfloat16, device="cuda") for shape in shapes)
        for _ in range(SETS)
    ]
    operations = 2 * BATCH * HEADS * asked.length**2 * asked.width  # half of the scores are hidden
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, width {asked.width}")
    right = next(call for _, call in of_torch())(*made[0]).float()
    found: list[dict[str, Any]] = []
    for name, call in (*of_torch(), *of_triton(asked.width)):
        try:
            apart = float((call(*made[0]).float() - right).abs().max())
            took = seconds(call, made)  # type: ignore[arg-type]
        except Exception as error:  # a cut that the card has no room for, a backend that it lacks
            found.append({"name": name, "error": f"{type(error).__name__}: {error}"[:300]})
            print(f"{name:44} {found[-1]['error'][:70]}")
            continue
        rate = operations / took / 1e12
        found.append({"name": name, "seconds": took, "teraflops": rate, "apart": apart})
        part = found[0]["seconds"] / took if found[0].get("seconds") else 0.0
        print(f"{name:44} {1e6 * took:7.0f} us {rate:6.0f} TFLOP/s {part:5.2f} apart {apart:.4f}")
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
