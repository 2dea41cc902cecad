"""The Triton references under Triton's interpreter: values against float64, and what is counted.

They run in a process of their own, `triton_script.py`: Triton decides where it is imported whether
it interprets, and other tests must not be told so.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from triton_script import ATTENTION, DECODE, REFUSED, SOFTMAX, names

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None,
    reason="Triton is not installed: pip install 'attention-drill[triton]' (Linux)",
)


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "TRITON_INTERPRET": "1",
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("triton_script.py"))],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def results(printed: dict[str, Any]) -> dict[str, Any]:
    cases: dict[str, Any] = printed["cases"]
    return cases


@pytest.mark.parametrize("name", names())
def test_values_are_those_of_float64(results: dict[str, Any], name: str) -> None:
    found = results[name]
    assert found["shape"] == found["expected_shape"]
    assert found["contiguous"]
    assert any(found["dtype"] == f"torch.{word.strip(chr(39))}" for word in name.split(", "))
    assert found["error"] != "NaN"
    assert found["error"] <= found["allowed"]


def test_attention_and_softmax_are_one_kernel_and_decoding_two(results: dict[str, Any]) -> None:
    wanted = {"attention": 1, "softmax": 1, "decode": 2, "paged": 2}
    for name, found in results.items():
        empty = 0 in found["shape"]
        assert found["launches"] == (0 if empty else wanted[name.split()[0]]), name


def test_no_work_is_done_on_tiles_that_the_causal_mask_hides(results: dict[str, Any]) -> None:
    # 129 queries are blocks of 128 and 1; the first sees one whole block of keys, the second two.
    case = (1, 4, 1, 129, 129, 16, True, "float16", "contiguous")
    assert case in ATTENTION
    tiles = 1 + 2
    assert results[f"attention {case}"]["products"] == 4 * 2 * tiles


def test_the_heads_of_a_group_read_a_tile_of_keys_together(results: dict[str, Any]) -> None:
    case = (2, 8, 1, 7, 80, "float16", "contiguous", (129, 64))
    assert case in DECODE
    # Tiles of 64 keys: 129 are three, 64 are one, whatever the number of query heads and of parts.
    assert results[f"decode {case}"]["products"] == 2 * (3 + 1)
    assert results[f"paged {case}"]["products"] == 2 * (3 + 1)


def test_the_cases_reach_both_softmax_kernels() -> None:
    from reference.kernels.triton_softmax import ONE_BLOCK

    assert {cols > ONE_BLOCK for _, cols, _, _ in SOFTMAX} == {False, True}


@pytest.mark.parametrize("call", REFUSED)
def test_what_the_kernels_do_not_take_is_said_in_one_sentence(
    printed: dict[str, Any], call: str
) -> None:
    said = printed["refused"][call]
    assert REFUSED[call] in said
    assert "\n" not in said


def test_without_a_gpu_or_the_interpreter_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    from reference.kernels import triton_shared

    monkeypatch.setattr(triton_shared, "interpreted", lambda: False)
    with pytest.raises(ValueError, match="TRITON_INTERPRET=1"):
        triton_shared.check_device(torch.ones(2, 3))


@pytest.mark.parametrize("hopper", [False, True])
def test_a_gpu_with_less_shared_memory_gets_narrower_tiles(hopper: bool) -> None:
    import torch

    from reference.kernels import triton_attention

    room = 99 << 10
    for width, size in triton_attention.LAUNCHES:
        dtype = torch.float16 if size == 2 else torch.float32
        usual = triton_attention.launch_with(width, dtype, hopper, 1 << 30)
        launch = triton_attention.launch_with(width, dtype, hopper, room)
        assert launch.rows(hopper or size == 4) * width * size <= room
        assert launch.block_n <= usual.block_n
