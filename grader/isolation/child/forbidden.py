"""Operations that a question rules out: refused where the dispatcher would run them.

A submission reaches an operation by many names (an alias, torch.ops, a lookup by string, the raw
handle of an operator), but all of them end at one of its kernels, so each of these is overridden,
for every device: those that one can take apart run as well by another device's key. No original is
kept: what Python can reach, a submission can call. Three things pass beside the dispatcher:
nn.MultiheadAttention and its kin compose plain operations, as flex attention does (their code is
replaced), and autograd is no operation (see `forbidden_autograd`). Comments and strings never
count: only what is called or imported.

Out of reach: torch's Python source run as the submission's own, which is the same as pasting it,
and ctypes, which can undo anything in its own process.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import forbidden_autograd
from .forbidden_lines import line_of
from .imports import ImportGuard

OPERATIONS = {
    "fused-attention": re.compile(
        r"scaled_dot_product_\w*attention|scaled_dot_attention|flash_attention|"
        r"efficient_attention|cudnn_attention|multi_head_attention|transformer_encoder_layer"
    ),
    "softmax": re.compile(r"softmax(?!\w*_backward)|logsumexp|logcumsumexp"),
    # Forward mode; a name of the engine; autograd's formulas for the steps of attention.
    "autograd": re.compile(
        r"^_make_dual$|^_backward$|attention\w*_backward|(softmax|matmul|linear)_backward"
    ),
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
ONEDNN = "MkldnnCPU"  # no member of DispatchKey, and with a softmax of its own
SOFTMAXES = {
    name: name for name in ("softmax", "log_softmax", "logsumexp", "_softmax", "_log_softmax")
}
FORMULAS = {name: name for name in ("_softmax_backward_data", "_log_softmax_backward_data")}
FLEX = "torch._higher_order_ops.flex_attention"
FLEX_BACKWARD = dict.fromkeys(
    ("sdpa_dense_backward", "FlexAttentionBackwardHOP.__call__"), "flex_attention's backward"
)
PATTERNS = range(1, 65)  # those that torch.compile looks for are attention: more than there are
# What torch and scipy write in Python: group -> module -> function -> its name in a refusal.
IN_PYTHON: dict[str, dict[str, dict[str, str]]] = {
    "fused-attention": {
        "torch.nn.functional": {"multi_head_attention_forward": "multi_head_attention_forward"},
        "torch.nn.modules.activation": {"MultiheadAttention.forward": "nn.MultiheadAttention"},
        "torch.nn.modules.transformer": {
            f"{name}.forward": f"nn.{name}"
            for name in ("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
        },
        "torch.ao.nn.quantizable.modules.activation": {
            f"MultiheadAttention.{name}": "nn.MultiheadAttention"
            for name in ("forward", "_forward_impl")
        },
        "torch.nn.attention.flex_attention": {"flex_attention": "flex_attention"},
        FLEX: FLEX_BACKWARD
        | dict.fromkeys(
            ("math_attention", "_math_attention_inner", "sdpa_dense", "FlexAttentionHOP.__call__"),
            "flex_attention",
        ),
        "torch.onnx.ops._impl": {
            f"attention_{version}{inner}": "onnx::Attention"
            for version in (23, 24)
            for inner in ("", "._init_fn")
        },
        "torch._inductor.fx_passes.fuse_attention": {
            f"_sfdp_pattern_{number}": "an attention pattern" for number in PATTERNS
        },
    },
    "softmax": {
        "torch._refs": SOFTMAXES,
        "torch._decomp.decompositions": SOFTMAXES,
        "torch._inductor.inductor_prims": {"eager_prepare_softmax": "prepare_softmax_online"},
        "scipy.special._logsumexp": {
            name: f"scipy.special.{name}" for name in ("softmax", "log_softmax", "logsumexp")
        },
    },
    "autograd": {
        "torch.autograd.graph": {"_engine_run_backward": "autograd"},
        "torch.autograd.forward_ad": {"enter_dual_level": "autograd"},
        "torch._decomp.decompositions": FORMULAS,
        FLEX: FLEX_BACKWARD,
        "torch._inductor.decomposition": FORMULAS,
    },
}


class ForbiddenOperation(RuntimeError):
    """Raised in the submission at the operation that the problem rules out."""


class Refusals:
    """What was refused: told to the judge at once, so that catching the exception is no way out."""

    def __init__(self) -> None:
        self.report: Callable[[str, int], None] | None = None
        self.filename = ""

    def __call__(self, operation: str) -> NoReturn:
        """Report `operation` with the submission's line, then raise ForbiddenOperation."""
        if self.report is not None:
            self.report(operation, line_of(operation, self.filename))
        raise ForbiddenOperation(f"this problem rules out {operation}")


refuse = Refusals()
Kernel = tuple[str, str]  # the operation, with its overload; the dispatch key
_kernels: dict[str, list[Kernel]] = {}
_modes: list[object] = []  # that last as long as the process


def prepare() -> None:
    """Find the kernels of the ruled-out operations in this torch. Once, in the zygote."""
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    keys = [key for key in (*torch._C.DispatchKey.__members__, ONEDNN) if _is_key(key)]
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for group, pattern in OPERATIONS.items():
        _kernels[group] = [
            (name.removeprefix("aten::"), key)
            for name in names
            if pattern.search(name.removeprefix("aten::"))
            for key in keys
            if has_kernel(name, key)
        ]


def _is_key(name: str) -> bool:
    try:
        torch._C._dispatch_key_parse(name)
    except RuntimeError:  # the first and the last of a range are members too
        return False
    return True


def install(groups: Iterable[str], guard: ImportGuard) -> None:
    """Rule the groups out in this process, for good."""
    groups = sorted(groups)
    guard.refuse = refuse
    guard.ruled_out = frozenset().union(*(MODULES.get(group, frozenset()) for group in groups))
    kernels = [kernel for group in groups for kernel in _kernels.get(group, ())]
    if kernels and not _override(kernels):
        mode = _RefusingMode([OPERATIONS[group] for group in groups if group in OPERATIONS])
        mode.__enter__()  # type: ignore[no-untyped-call]
        _modes.append(mode)
    in_python: dict[str, dict[str, str]] = {}
    for group in groups:
        for module, functions in IN_PYTHON.get(group, {}).items():
            in_python.setdefault(module, {}).update(functions)
    for module, functions in in_python.items():
        # Also of one that is here already: it can be dropped, and imported again.
        guard.patches[module] = patch = partial(_replace_in, functions)
        if module in sys.modules:
            patch(sys.modules[module])
    if "softmax" in groups:
        _close_compiler(_refusing("softmax"))
    if "autograd" in groups:
        forbidden_autograd.close(_refusing("autograd"))


def _close_compiler(refusing: Callable[..., NoReturn]) -> None:
    """TorchScript's own compiler, which has a softmax of its own, where this torch has it."""
    compiler: Any = getattr(torch._C, "_te", None)
    if hasattr(compiler, "TensorExprKernel"):
        compiler.TensorExprKernel.__init__ = refusing  # in the class, whatever else names it
    for name in ("lower", "construct_codegen"):
        if hasattr(compiler, name):
            setattr(compiler, name, refusing)


def _override(kernels: list[Kernel]) -> bool:
    """Register refusing kernels; False where this torch's private interface does not take them."""
    try:
        # torch.library.Library would do the same, but the garbage collector shows such an object
        # to the submission, which could undo it.
        library: Any = torch._C._dispatch_library("IMPL", "aten", "", __file__, 1)
        # Kept alive by a count alone: what Python can reach, the submission can drop, and the
        # override goes with it.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
        for name, key in kernels:
            library.impl(name, key, _refusing(name.partition(".")[0]), False)
    except (AttributeError, RuntimeError, TypeError):
        return False
    return _is_refused({name for name, _ in kernels})


def _is_refused(names: set[str]) -> bool:
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


def _refusing(name: str) -> Callable[..., NoReturn]:
    def kernel(*args: Any, **kwargs: Any) -> NoReturn:
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


def _replace_in(functions: Mapping[str, str], module: ModuleType) -> None:
    for path, name in functions.items():
        try:
            function = attrgetter(path)(module)
        except AttributeError:  # another version
            continue
        while function is not None:
            _replace(function, name)
            function = getattr(function, "__wrapped__", None)


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
