"""Operations that a question rules out: refused where the dispatcher would run them.

A submission reaches an operation by many names (an alias, torch.ops, a lookup by string), but on
the CPU all of them end at the dispatcher, so the override sits there. Three things pass beside it:
nn.MultiheadAttention and its kin compose plain operations (their code is replaced), flex attention
too (refused on import and on call), and autograd is no operation (its one entry to the engine is
replaced). Comments and strings never count: only what is called or imported.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .imports import ImportGuard

OPERATIONS = {
    "fused-attention": re.compile(
        r"scaled_dot_product_\w*attention|scaled_dot_attention|flash_attention|"
        r"efficient_attention|cudnn_attention|multi_head_attention|transformer_encoder_layer"
    ),
    "softmax": re.compile(r"softmax(?!\w*_backward)|logsumexp"),
    "autograd": re.compile(r"^_make_dual$|^_backward$"),  # forward mode; a name of the engine
}
MODULES = {
    "fused-attention": frozenset(
        {
            "torch.nn.attention.flex_attention",
            "torch.nn.attention.varlen",
            "torch._higher_order_ops.flex_attention",
            "xformers",
            "flash_attn",
            "flash_attn_interface",
            "flashinfer",
            "sageattention",
            "transformers",
        }
    )
}
# The last: under vmap and torch.func an operation is taken apart before the CPU's keys.
DISPATCH_KEYS = ("CPU", "AutogradCPU", "FuncTorchDynamicLayerFrontMode")
ONEDNN = "MkldnnCPU"  # tensors of their own, with a softmax of their own
FLEX = "torch.nn.attention.flex_attention"
FLEX_OPERATION = "torch._higher_order_ops.flex_attention"
SCIPY = "scipy.special._logsumexp"
IN_PYTHON = ("torch._refs", "torch._decomp.decompositions")  # torch's operations once more


SCRIPTED = re.compile(r"aten::(backward|_backward|grad)\(")
"""Nodes of a scripted function's graph that run autograd."""


class ForbiddenOperation(RuntimeError):
    """Raised in the submission at the operation that the problem rules out."""


class Refusals:
    """What was refused: told to the judge at once, so that catching the exception is no way out."""

    def __init__(self) -> None:
        self.report: Callable[[str, int], None] | None = None
        self.filename = ""

    def __call__(self, operation: str) -> None:
        """Report `operation` with the submission's line, then raise ForbiddenOperation."""
        if self.report is not None:
            self.report(operation, _line_in(self.filename))
        raise ForbiddenOperation(f"this problem rules out {operation}")


refuse = Refusals()
_operations: dict[str, list[str]] = {}
_overloads: dict[str, list[Any]] = {}
_modes: list[object] = []  # that last as long as the process


def prepare() -> None:
    """Find the names of the ruled-out operations in this torch. Once, in the zygote."""
    names = [
        name.partition("::")[2]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    ]
    for group, pattern in OPERATIONS.items():
        _operations[group] = [name for name in names if pattern.search(name)]
        plain = sorted({name.partition(".")[0] for name in _operations[group]})
        packets = [getattr(torch.ops.aten, name, None) for name in plain]
        _overloads[group] = [
            getattr(packet, overload)
            for packet in packets
            if packet is not None
            for overload in packet.overloads()
        ]


def install(groups: Iterable[str], guard: ImportGuard) -> None:
    """Rule the groups out in this process, for good."""
    groups = set(groups)
    guard.refuse = refuse
    guard.ruled_out = frozenset().union(*(MODULES.get(group, frozenset()) for group in groups))
    names = [name for group in sorted(groups) for name in _operations.get(group, ())]
    for group in groups:
        _close_overloads(_overloads.get(group, ()))
    if names and not _override(names):
        mode = _RefusingMode([OPERATIONS[group] for group in groups if group in OPERATIONS])
        mode.__enter__()  # type: ignore[no-untyped-call]
        _modes.append(mode)
    if "fused-attention" in groups:
        _replace_modules()
        for name, patch in ((FLEX, _replace_flex), (FLEX_OPERATION, _replace_flex_operation)):
            if name in sys.modules:
                patch(sys.modules[name])
            else:
                guard.patches[name] = patch
    if "softmax" in groups:
        guard.patches[SCIPY] = _replace_scipy
        for module in IN_PYTHON:
            if module in sys.modules:
                _replace_in_python(sys.modules[module])
            else:
                guard.patches[module] = _replace_in_python
    if "autograd" in groups:
        _close_autograd()


def _override(names: list[str]) -> bool:
    """Register refusing kernels; False where this torch's private interface does not take them."""
    try:
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        for key in (*DISPATCH_KEYS, ONEDNN):
            # torch.library.Library would do the same, but the garbage collector shows such an
            # object to the submission, which could undo it.
            library: Any = torch._C._dispatch_library("IMPL", "aten", key, __file__, 1)
            # Kept alive by a count alone: what Python can reach, the submission can drop, and the
            # override goes with it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
            for name in names:
                # A kernel beside one that is made of others would be ambiguous to torch.
                if key == ONEDNN and not has_kernel(f"aten::{name}", key):
                    continue
                library.impl(name, key, _refusing(name.partition(".")[0]), False)
    except (AttributeError, RuntimeError, TypeError):
        return False
    return _is_refused(names)


def _is_refused(names: list[str]) -> bool:
    """Self-test: one overridden operation, called through the dispatcher, must raise."""
    x = torch.empty(1, 1, 1, 1)
    try:
        if "scaled_dot_product_attention" in names:
            torch._C._nn.scaled_dot_product_attention(x, x, x)
        elif "logsumexp" in names:
            torch.logsumexp(x, dim=(-1,))
        else:
            torch._VF._make_dual(x, x, level=0)
    except ForbiddenOperation:
        return True
    return False


def _refusing(name: str) -> Callable[..., None]:
    def kernel(*args: Any, **kwargs: Any) -> None:
        refuse(name)

    return kernel


class _RefusingMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The second-best way: sees what a submission runs unless it switches modes off."""

    def __init__(self, patterns: list[re.Pattern[str]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.patterns = patterns

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__.partition(".")[0]
        if any(pattern.search(name) for pattern in self.patterns):
            refuse(name)
        return func(*args, **(kwargs or {}))


def _replace_modules() -> None:
    nn = torch.nn
    _replace(nn.functional.multi_head_attention_forward, "multi_head_attention_forward")
    for module in (
        nn.MultiheadAttention,
        nn.TransformerEncoderLayer,
        nn.TransformerDecoderLayer,
        nn.Transformer,
    ):
        _replace(module.forward, f"nn.{module.__name__}")


def _replace_flex(module: ModuleType) -> None:
    _replace(module.flex_attention, "flex_attention")


def _replace_flex_operation(module: ModuleType) -> None:
    for function in (module.math_attention, module.sdpa_dense, module.FlexAttentionHOP.__call__):
        _replace(function, "flex_attention")


class _Refusing:
    """Stands where a thing was that is ruled out."""

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        refuse("autograd")

    def __getattr__(self, name: str) -> None:
        refuse("autograd")


def _close_autograd() -> None:
    """Rule out the engine, by each of its names; dual numbers; and the walk along a graph by hand.

    Building a graph is no fault: torch does it for every parameter.
    """
    _replace(torch.autograd.graph._engine_run_backward, "autograd")
    _replace(torch.autograd.forward_ad.enter_dual_level, "autograd")
    variable: Any = sys.modules["torch.autograd.variable"]
    for owner, name in (
        (variable.Variable, "_execution_engine"),
        (variable, "ImperativeEngine"),
        (torch._C, "_ImperativeEngine"),
        (torch._C, "_enter_dual_level"),
    ):
        if hasattr(owner, name):
            setattr(owner, name, _Refusing())
    node: Any = torch._C.TensorBase.grad_fn
    printing = sys.modules["torch._tensor_str"].__file__

    def grad_fn(tensor: torch.Tensor) -> Any:
        found = node.__get__(tensor)
        if found is not None and sys._getframe(1).f_code.co_filename != printing:
            refuse("autograd")
        return found

    for name in ("grad_fn", "_grad_fn"):
        setattr(torch.Tensor, name, property(grad_fn))
    _close_script()


def _close_script() -> None:
    """TorchScript has an engine call of its own, seen in a function's graph alone."""
    script: Any = torch.jit.script
    unit: Any = torch._C.CompilationUnit

    def checked(*args: Any, **kwargs: Any) -> Any:
        made = script(*args, **kwargs)
        _refuse_graphs([made])
        return made

    def checked_unit(*args: Any, **kwargs: Any) -> Any:
        made = unit(*args, **kwargs)
        _refuse_graphs(made.get_functions())
        return made

    owners: list[Any] = [torch.jit, sys.modules["torch.jit._script"], torch._C]
    for owner in owners:
        if hasattr(owner, "script"):
            owner.script = checked
        if hasattr(owner, "CompilationUnit"):
            owner.CompilationUnit = checked_unit


def _refuse_graphs(made: Iterable[Any]) -> None:
    for function in made:
        if SCRIPTED.search(str(getattr(function, "inlined_graph", ""))):
            refuse("autograd")


def _close_overloads(overloads: Iterable[Any]) -> None:
    """One can be taken apart, or run by another key's kernel: beside the dispatcher."""
    for overload in overloads:
        overload.decompose = overload._op_dk = _refusing(overload._opname)


def _replace_in_python(module: ModuleType) -> None:
    for name in ("softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax"):
        _replace(getattr(module, name, None), name)


def _replace_scipy(module: ModuleType) -> None:
    for name in ("softmax", "log_softmax", "logsumexp"):
        _replace(getattr(module, name), f"scipy.special.{name}")


def _replace(function: Any, name: str) -> None:
    """Give a function other code, so that references taken earlier are refused too."""
    if not isinstance(function, FunctionType):
        return
    # The code runs with the globals of the function that it replaces: it names all that it needs.
    source = f"def f(*a, **k):\n    import sys\n    sys.modules[{__name__!r}].refuse({name!r})"
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    code = namespace["f"].__code__
    function.__code__ = code.replace(co_freevars=function.__code__.co_freevars)


def _line_in(filename: str) -> int:
    """The submission's line that is now running; 0 when it is in no line of the file."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return 0
