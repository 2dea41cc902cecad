"""Operations that a question rules out: refused where the dispatcher would run them.

A submission reaches an operation by many names (an alias, torch.ops, a lookup by string), but on
the CPU all of them end at the dispatcher, so the override sits there. Three things pass beside it:
nn.MultiheadAttention and its kin compose plain operations (their code is replaced), flex attention
too (refused on import and on call), and autograd is no operation (its one entry to the engine is
replaced; the nodes of a graph and TorchScript's own calls of the engine are refused too). Comments
and strings never count: only what is called or imported.
"""

from __future__ import annotations

import ctypes
import gc
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
# TorchScript's own calls of the engine: no dispatcher sees them, torch.ops hands them out.
SCRIPTED = {"autograd": ("backward", "grad")}
SCRIPTED_AUTOGRAD = re.compile(r"\baten::(backward|grad)\(")
# Besides calling it: what runs an overload by a kernel of one's choice.
BESIDE = ("_op_dk", "decompose", "redispatch")


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
_packets: dict[str, list[Any]] = {}  # the same as objects of torch.ops
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
        plain = {name.partition(".")[0] for name in _operations[group]}
        plain.update(SCRIPTED.get(group, ()))
        packets = [getattr(torch.ops.aten, name, None) for name in sorted(plain)]
        _packets[group] = [packet for packet in packets if packet is not None]
        for packet in _packets[group]:
            for overload in packet.overloads():
                getattr(packet, overload)  # made once, on the first look


def install(groups: Iterable[str], guard: ImportGuard) -> None:
    """Rule the groups out in this process, for good."""
    groups = set(groups)
    guard.refuse = refuse
    guard.ruled_out = frozenset().union(*(MODULES.get(group, frozenset()) for group in groups))
    names = [name for group in sorted(groups) for name in _operations.get(group, ())]
    _close_overloads(groups)
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
    # By code and not by file: a submission can compile its own under any file's name.
    printing = {
        function.__code__
        for function in vars(sys.modules["torch._tensor_str"]).values()
        if isinstance(function, FunctionType)
    }

    def grad_fn(tensor: torch.Tensor) -> Any:
        found = node.__get__(tensor)
        if found is not None and sys._getframe(1).f_code not in printing:
            refuse("autograd")
        return found

    for name in ("grad_fn", "_grad_fn"):
        _put(torch._C.TensorBase, name, property(grad_fn))
    _put(torch._C._FunctionBase, "next_functions", property(_refusing("autograd")))
    for scripted in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        _check_graphs(scripted)


def _put(owner: Any, name: str, value: object) -> None:
    """Set an attribute of a class that is written in C and takes none."""
    try:
        setattr(owner, name, value)
    except TypeError:
        (attributes,) = gc.get_referents(owner.__dict__)
        attributes[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))


def _check_graphs(scripted: Any) -> None:
    """What TorchScript runs is seen in its graph alone: read at each call, however it was made."""
    call = scripted.__call__

    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if SCRIPTED_AUTOGRAD.search(str(self.inlined_graph)):
            refuse("autograd")
        return call(self, *args, **kwargs)

    scripted.__call__ = checked


def _close_overloads(groups: Iterable[str]) -> None:
    """An overload can be taken apart, or run by another key's kernel: beside the dispatcher."""
    by_name: dict[str, Callable[..., None]] = {}
    unseen: set[str] = set()
    for group in groups:
        unseen.update(f"aten::{name}" for name in SCRIPTED.get(group, ()))
        for packet in _packets.get(group, ()):
            name = packet._qualified_op_name
            by_name[name] = refusing = _refusing(group if name in unseen else packet.__name__)
            for overload in (getattr(packet, each) for each in packet.overloads()):
                for way in BESIDE:
                    setattr(overload, way, refusing)
                if name in unseen:
                    overload._op = refusing
            if name in unseen:
                packet._op = refusing
    find, find_overload = torch._C._jit_get_operation, torch._C._get_operation_overload

    def get(name: str, *args: Any) -> Any:
        found = find(name, *args)
        return (by_name[name], *found[1:]) if name in unseen else found

    def get_overload(name: str, *args: Any) -> Any:
        found = find_overload(name, *args)
        if found is None or name not in by_name:
            return found
        refusing = by_name[name]
        return (refusing if name in unseen else found[0], refusing, *found[2:])

    if by_name:
        finders: Any = torch._C
        finders._jit_get_operation, finders._get_operation_overload = get, get_overload


def _replace_in_python(module: ModuleType) -> None:
    for name in ("softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax"):
        function = getattr(module, name, None)
        while function is not None:
            _replace(function, name)
            function = getattr(function, "__wrapped__", None)


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
