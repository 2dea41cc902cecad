"""What the Triton kernels share: checks of their arguments, and sizes.

A Triton kernel is compiled for a tile of fixed size, each side a power of two; what lies outside
the tensor is masked. Under `TRITON_INTERPRET=1`, set before Triton is imported, the same source
runs on CPU tensors, a program at a time.
"""

from __future__ import annotations

import math
import os

import torch
import triton.language as tl
from torch import Tensor

DTYPES = {
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float32,  # no GPU has tensor cores for it that a kernel like these could feed
}
"""The dtypes taken, and what the products are computed from; sums are float32 throughout."""

LOG2E = math.log2(math.e)
"""exp(x) is exp2(LOG2E * x), and exp2 is the one that the hardware has."""

INTERPRETED = os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on", "yes", "y")
"""Read once, as Triton does where a kernel is decorated."""

WIDEST = 256
"""Head widths beyond this one do not leave room for two tiles in shared memory."""


def interpreted() -> bool:
    """Whether kernels run under Triton's interpreter, on the CPU."""
    return INTERPRETED


def padded(width: int) -> int:
    """The side of a tile that holds `width`: a power of two, and at least a tensor core's 16."""
    return max(16, 1 << (width - 1).bit_length())


def shared_memory(device: torch.device) -> int:
    """Bytes of shared memory that one program may have."""
    if device.type != "cuda":
        return 1 << 30  # the interpreter has no such limit
    properties = torch.cuda.get_device_properties(device)
    # An older torch does not say: what every GPU since Ampere has.
    return int(getattr(properties, "shared_memory_per_block_optin", 99 << 10))


def is_hopper(device: torch.device) -> bool:
    """Whether tensor cores read their operands from shared memory: an H100's, and later ones'."""
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= (9, 0)


def check_device(*tensors: Tensor) -> None:
    """ValueError unless a kernel can reach every tensor."""
    devices = {tensor.device for tensor in tensors}
    if len(devices) > 1:
        names = ", ".join(sorted(map(str, devices)))
        raise ValueError(f"the arguments are on {names}; move them to one device")
    if tensors[0].device.type != "cuda" and not interpreted():
        raise ValueError(
            f"a Triton kernel cannot run on {tensors[0].device}; move the tensors to a GPU, "
            "or set TRITON_INTERPRET=1 before Triton is imported"
        )


def check_dtype(*tensors: Tensor) -> None:
    """ValueError unless all have one dtype, and it is one of DTYPES."""
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) > 1 or dtypes - DTYPES.keys():
        names = ", ".join(sorted(map(str, dtypes)))
        raise ValueError(
            f"got {names}; give all tensors one dtype of float16, bfloat16, float32, float64"
        )


def check_heads(q: Tensor, n_kv_heads: int) -> None:
    """ValueError unless q is (B, H, T, D), H a multiple of H_kv, and D fits a tile."""
    n_heads, width = q.shape[1], q.shape[3]
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"{n_heads} query heads cannot share {n_kv_heads} key/value heads; "
            "make H a multiple of H_kv"
        )
    if not 1 <= width <= WIDEST:
        raise ValueError(f"the head width is {width}; give one of 1 to {WIDEST}")


def check_decode(q: Tensor, lengths: Tensor) -> None:
    """ValueError unless q is (B, H, 1, D) and lengths (B,) int64."""
    if q.dim() != 4 or q.shape[2] != 1:
        raise ValueError(f"q has shape {tuple(q.shape)}; a decoding step takes (B, H, 1, D)")
    if lengths.shape != q.shape[:1] or lengths.dtype != torch.int64:
        raise ValueError(
            f"lengths are {tuple(lengths.shape)} {lengths.dtype}; "
            f"give one int64 a sequence, ({q.shape[0]},)"
        )
