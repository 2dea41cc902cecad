"""The Triton references compiled for an H100, which needs none: what no interpreter can show."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None,
        reason="Triton is not installed: pip install 'attention-drill[triton]' (Linux)",
    ),
    pytest.mark.skipif(
        bool(os.environ.get("TRITON_INTERPRET")),
        reason="TRITON_INTERPRET is set: nothing would be compiled",
    ),
]

SHARED_MEMORY = 227 << 10
"""What one program on an H100 may have, in bytes."""
SMALLEST = 99 << 10
"""The same on the cards of capability 8.6 and 8.9."""


def spilled(built: Any, folder: Path) -> int:
    """Bytes of a thread's stack: what does not fit into its registers."""
    import triton

    programs = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    (folder / "kernel.cubin").write_bytes(built.asm["cubin"])
    line = [programs / "cuobjdump", "--dump-resource-usage", folder / "kernel.cubin"]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    found = re.search(r"STACK:(\d+)", told)
    assert found is not None, told
    return int(found[1])


def compiled(
    width: int, dtype_name: str, causal: bool, capability: int = 90, shared: int = SHARED_MEMORY
) -> Any:
    """`fused_attention` for contiguous tensors whose strides are multiples of 16."""
    import torch
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from reference.kernels import triton_attention as module
    from reference.kernels.triton_shared import padded

    dtype = getattr(torch, dtype_name)
    launch = module.launch_with(width, dtype, capability >= 90, shared)
    kernel = module._attention
    constants = {
        "SCALE": 0.125, "CAUSAL": causal, "DTYPE": module.DTYPES[dtype], "D": width,
        "BLOCK_D": padded(width), "BLOCK_M": launch.block_m, "BLOCK_N": launch.block_n,
        "stride_qd": 1, "stride_kd": 1, "stride_vd": 1,
    }  # fmt: skip
    pointer = {"bfloat16": "*bf16", "float32": "*fp32"}[dtype_name]
    signature = {
        name: "constexpr" if name in constants
        else pointer if name in ("out", "q", "k", "v")
        else "i32"
        for name in kernel.arg_names
    }  # fmt: skip
    aligned = {
        (place,): [["tt.divisibility", 16]]
        for place, name in enumerate(kernel.arg_names)
        if signature[name] == pointer or (name.startswith("stride") and name not in constants)
    }
    return triton.compile(
        ASTSource(kernel, signature, constants, aligned),
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": launch.num_warps, "num_stages": launch.num_stages},
    )


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def test_half_precision_runs_on_the_tensor_cores_from_copies_made_ahead(tmp_path: Path) -> None:
    built = compiled(128, "bfloat16", True)
    assert built.metadata.shared <= SHARED_MEMORY
    assert "wgmma.mma_async" in built.asm["ptx"]
    assert "cp.async" in built.asm["ptx"]
    assert spilled(built, tmp_path) == 0


@pytest.mark.parametrize("width", [128, 256])
def test_half_precision_fits_the_smallest_cards_before_hopper(width: int, tmp_path: Path) -> None:
    built = compiled(width, "bfloat16", True, 86, SMALLEST)
    assert built.metadata.shared <= SMALLEST
    assert "mma.sync" in built.asm["ptx"]
    assert spilled(built, tmp_path) == 0


def test_float32_is_never_rounded_to_tf32() -> None:
    built = compiled(64, "float32", False)
    assert built.metadata.shared <= SHARED_MEMORY
    assert not re.search(r"tf32|mma\.", built.asm["ptx"])
    assert "fma.rn.f32" in built.asm["ptx"]
