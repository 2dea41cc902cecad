"""What torch's operations are: views, products, copies, and how much work each is.

work      2 a multiply-add of a product, else elements: of the larger of input and result; of what
          is moved, for copies and indexing
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

VIEW, COMPOSITE, PRODUCT, CONVOLUTION, MOVE, WRITE, EMPTY, FILL, OTHER = range(9)

# Products, and which argument is the left matrix.
PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "linear", "_int_mm"), 0),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "addbmm"), 1),
}
CONVOLUTIONS = frozenset({"convolution", "_convolution", "mkldnn_convolution"})


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOVES = _names(
    "_to_copy clone cat stack index index_select gather take embedding constant_pad_nd repeat roll "
    "flip lift_fresh slice_scatter select_scatter im2col tril triu"
)
WRITES = _names(
    "copy_ index_put_ _index_put_impl_ scatter_ index_copy_ index_add_ scatter_add_ put_ "
    "index_fill_ scatter_reduce_ index_reduce_ masked_scatter_"
)
EMPTIES = _names("empty empty_like empty_strided new_empty new_empty_strided resize_")
FILLS = _names(
    "zeros zeros_like ones ones_like full full_like new_zeros new_ones new_full fill_ zero_"
)
# They look like operations that write, and change the shape alone.
SHAPES = _names(
    "_unsafe_view squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ detach_ set_ as_strided_ "
    "requires_grad_"
)
IMPLICIT = torch._C.DispatchKey.CompositeImplicitAutograd


@dataclass(frozen=True)
class Operation:
    """What is to be known of an operation. `left`: which argument of a product is its matrix."""

    kind: int
    writes: bool
    left: int

    @classmethod
    def of(cls, func: Any) -> Operation:
        """Look at its schema, once."""
        name = _name(func)
        kind = _kind(func, name)
        writes = kind == WRITE or bool(func._schema.is_mutable)
        return cls(kind, writes, PRODUCTS.get(name.removesuffix("_"), 0))


def work_of(operation: Operation, args: Any, given: list[Tensor], made: list[Tensor]) -> int:
    kind = operation.kind
    if kind == PRODUCT:
        left, right = args[operation.left], args[operation.left + 1]
        columns = made[0].shape[-1] if right.dim() > 1 else 1
        return 2 * int(left.numel()) * columns
    if kind == CONVOLUTION:
        return 2 * made[0].numel() * int(args[1][0].numel())
    if kind == EMPTY:
        return 0
    if kind in (MOVE, FILL):
        return sum(tensor.numel() for tensor in made)
    if kind == WRITE:
        return max((tensor.numel() for tensor in given[1:]), default=1)
    return max((tensor.numel() for tensor in (*given, *made)), default=0)


def _name(func: Any) -> str:
    return str(func._schema.name).partition("::")[2]


def _kind(func: Any, name: str) -> int:
    for kind, names in ((MOVE, MOVES), (WRITE, WRITES), (EMPTY, EMPTIES), (FILL, FILLS)):
        if name in names:
            return kind
    if name in SHAPES:
        return VIEW
    if name in CONVOLUTIONS:
        return CONVOLUTION
    if _is_composite(func):
        return COMPOSITE
    if name.removesuffix("_") in PRODUCTS:
        return PRODUCT
    returned = [r.alias_info for r in func._schema.returns]
    return VIEW if any(info is not None and not info.is_write for info in returned) else OTHER


def _is_composite(func: Any) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return bool(has_kernel(func.name(), "CompositeImplicitAutograd"))
