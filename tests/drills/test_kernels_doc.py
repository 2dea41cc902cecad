"""The kernels of docs/kernels.md, as a learner would copy them."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, Drill

from drills import devices

TORCH, TRITON, CUDA = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "kernels.md").read_text(), re.DOTALL
)


def test_the_kernel_in_torch_is_right(drill: Drill) -> None:
    (drill.work / "k.py").write_text(TORCH)
    ran = drill("grade", "fused-softmax", "k.py", "--case", "odd-sizes", "--json")
    assert (ran.json["verdict"], ran.json["device"]) == ("passed", "cpu")


@pytest.mark.skipif(not devices.has_triton(), reason="Triton is not installed")
def test_the_kernel_in_triton_passes_on_the_interpreter_by_itself(drill: Drill) -> None:
    (drill.work / "k.py").write_text(TRITON)
    ran = drill("grade", "fused-softmax", "k.py", "--json")
    assert (ran.json["verdict"], ran.json["device"]) == ("passed", "interpret")


def test_the_kernel_in_cuda_is_the_one_that_is_tried_where_a_gpu_is() -> None:
    tried = ROOT / "tests" / "honest_cuda" / "fused-softmax" / "warp_a_row_inline.py"
    assert tried.read_text() == CUDA
    assert devices.language(CUDA.encode()) == "extension"
    assert not devices.without_kernel(CUDA.encode())
