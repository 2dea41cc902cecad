"""Operations that a question rules out are refused at the dispatcher, by whatever name."""

from __future__ import annotations

import pytest
from isolation_harness import call, submit, tensor

Q = tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
HEAD = "import torch, torch.nn as nn\nimport torch.nn.functional as F\n"
COMPOSITE = """MATH = torch.ops.aten._scaled_dot_product_attention_math
COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
"""
FUSED = [
    "F.scaled_dot_product_attention(q, q, q)",
    "torch._C._nn.scaled_dot_product_attention(q, q, q)",
    "torch.ops.aten.scaled_dot_product_attention(q, q, q)",
    "torch.ops.aten.scaled_dot_product_attention.default(q, q, q)",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)[0]",
    "torch.ops.aten._scaled_dot_product_attention_math(q, q, q)[0]",
    "getattr(F, 'scaled_dot' + '_product_attention')(q, q, q)",
    "torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0](q, q, q)",
    "torch.vmap(F.scaled_dot_product_attention)(q, q, q)",
    "torch.inference_mode()(F.scaled_dot_product_attention)(q, q, q)",
    "F.scaled_dot_product_attention(q.clone().requires_grad_(), q, q)",
    "torch.autocast('cpu')(F.scaled_dot_product_attention)(q, q, q)",
    "nn.MultiheadAttention(2, 1)(q[0], q[0], q[0])[0][None]",
    "nn.MultiheadAttention(2, 1).eval()(q[0], q[0], q[0], need_weights=False)[0][None]",
    "nn.TransformerEncoderLayer(2, 1, 4)(q[0])[None]",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, 4), 1).eval()(q[0])[None]",
    "nn.TransformerDecoderLayer(2, 1, 4)(q[0], q[0])[None]",
    "type(nn.MultiheadAttention(2, 1)).forward(nn.MultiheadAttention(2, 1), q[0], q[0], q[0])[0]",
    "nn.TransformerEncoderLayer(2, 1, 4)._sa_block(q[0], None, None)[None]",
    "F.multi_head_attention_forward(*[q[0]] * 3, 2, 1, q, None, None, None, False, 0.0, q, None)",
    "torch._native_multi_head_attention(*[q[0]] * 3, 2, 1, *[torch.ones(6, 2)] * 4)",
    "torch.ops.aten._native_multi_head_attention(*[q[0]] * 3, 2, 1, *[torch.ones(6, 2)] * 4)",
    "torch._transformer_encoder_layer_fwd(q[0], 2, 1, *[q] * 4, False, False, 1e-5, *[q] * 8)",
    "vars(F)['scaled_dot_product_attention'](q, q, q)",
    "eval('F.scaled_dot' + '_product_attention')(q, q, q)",
    "torch._C._get_operation_overload('aten::scaled_dot_product_attention', '')[0](q, q, q)",
    "torch.jit.trace(lambda a: F.scaled_dot_product_attention(a, a, a), (q,))(q)",
    "torch.ops.aten._scaled_dot_product_attention_math.default.decompose(q, q, q)[0]",
    "torch._ops.OpOverload.decompose(MATH.default, q, q, q)[0]",
    "MATH.default._op_dk(COMPOSITE, q, q, q)[0]",
    "MATH.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.Meta), q, q, q)[0]",
    "torch._C._get_operation_overload(MATH._qualified_op_name, '')[1](COMPOSITE, q, q, q)[0]",
]


@pytest.mark.parametrize("expression", FUSED)
def test_fused_attention_is_refused_also_when_the_refusal_is_caught(expression: str) -> None:
    source = (
        f"{HEAD}{COMPOSITE}def f(q):\n    try:\n        return {expression}\n"
        "    except Exception:\n        return (q @ q.mT).softmax(-1) @ q\n"
    )
    loaded, called = submit(source, call(Q))
    assert loaded.status == "returned"
    assert called.status == "forbidden"
    assert called.line == 7
    named = called.detail["op"]
    assert "attention" in named or "encoder_layer" in named or named.startswith("nn.")
    assert called.detail["instead_of"] == "returned"


def test_a_refusal_that_is_not_caught_says_what_is_ruled_out() -> None:
    source = f"{HEAD}sdpa = F.scaled_dot_product_attention\ndef f(q):\n    return sdpa(q, q, q)\n"
    _, called = submit(source, call(Q))
    assert called.status == "forbidden"
    assert called.error.endswith("this problem rules out scaled_dot_product_attention")
    assert called.detail["op"] == "scaled_dot_product_attention"
    assert called.line == 5


def test_a_refusal_before_a_death_is_still_one() -> None:
    source = (
        f"{HEAD}import os\ndef f(q):\n    try: F.scaled_dot_product_attention(q, q, q)\n"
        "    finally: os._exit(0)\n"
    )
    _, called, again = submit(source, call(Q), call(Q))
    assert called.status == "forbidden"
    assert called.detail["instead_of"] == "died"
    assert again.detail == {"already": True}


@pytest.mark.parametrize(
    "statement",
    [
        "from torch.nn.attention.flex_attention import flex_attention",
        "import torch.nn.attention.flex_attention",
        "from torch.nn.attention.varlen import varlen_attn",
        "import importlib; importlib.import_module('torch.nn.attention.flex_attention')",
        "exec('import flash_attn')",
        "import xformers",
    ],
)
def test_other_attention_is_refused_on_import(statement: str) -> None:
    source = f"try:\n    {statement}\nexcept Exception: pass\ndef f(q): return q\n"
    (loaded,) = submit(source)
    assert loaded.status == "forbidden"
    assert loaded.detail["op"].startswith("import ")


@pytest.mark.parametrize("name", ["flex_attention", "math_attention", "sdpa_dense"])
def test_flex_attention_is_refused_below_its_front(name: str) -> None:
    source = (
        f"from torch._higher_order_ops.flex_attention import {name} as flex\n"
        "def f(q):\n    mask = (1, 1) + (None,) * 8 + (1, 1, lambda b, h, m, n: n >= 0)\n"
        "    return flex(q, q, q, lambda s, *at: s, mask, 1.0, {})[0]\n"
    )
    _, called = submit(source, call(Q))
    assert called.status == "forbidden", called
    assert (called.detail["op"], called.line) == ("flex_attention", 4)


def test_mentions_softmax_and_ordinary_operations_are_welcome() -> None:
    source = (
        f'{HEAD}"""Not F.scaled_dot_product_attention(q, k, v), and no flash_attn."""\n'
        "# nn.MultiheadAttention would do it\n"
        "from torch.nn.attention import SDPBackend\n"
        "NAMES = ['scaled_dot_product_attention', F.scaled_dot_product_attention]\n"
        "layer = nn.MultiheadAttention(2, 1)\n"
        "def f(q):\n    p = F.softmax(torch.einsum('bhtd,bhsd->bhts', q, q), -1)\n"
        "    p = p + 0 * torch.softmax(q, -1) + 0 * q.log_softmax(-1) + 0 * nn.Softmax(-1)(q)\n"
        "    return F.dropout(p, 0.0) @ q\n"
    )
    loaded, called = submit(source, call(Q))
    assert (loaded.status, called.status) == ("returned", "returned"), (loaded, called)
    assert called.stdout == loaded.stdout == ""


SOFTMAX = [
    "torch.softmax(q, -1)",
    "q.softmax(-1)",
    "F.softmax(q, -1, dtype=torch.float64).float()",
    "nn.Softmax(-1)(q)",
    "q.log_softmax(-1).exp()",
    "torch.special.softmax(q, -1)",
    "torch.ops.aten._softmax(q, -1, False)",
    "(q - q.logsumexp(-1, keepdim=True)).exp()",
    "torch.special.logsumexp(q, -1, keepdim=True) * q",
    "F.softmin(-q, -1)",
    "F.cross_entropy(q[0, 0], torch.tensor([0, 1])) * q",
    "__import__('torch._refs')._refs.softmax(q, -1)",
    "__import__('torch._refs')._refs.softmax.__wrapped__(q, -1)",
    "__import__('torch._refs')._refs.log_softmax(q, -1).exp()",
    "__import__('torch._refs')._refs.nn.functional.softmin(-q, -1)",
    "__import__('torch._decomp')._decomp.decompositions._softmax(q, -1, False)",
    "__import__('torch._decomp')._decomp.decomposition_table[SOFTMAX.default](q, -1, False)",
    "torch.ops.aten.softmax.int.decompose(q, -1)",
    "torch.ops.aten.softmax.int._op_dk(COMPOSITE, q, -1)",
    "SOFTMAX.default._op_dk(torch._C.DispatchKey.CPU, q, -1, False)",
    "torch.logcumsumexp(q, -1)",
    "q.logcumsumexp(-1)",
    "torch.logcumsumexp(q, -1, out=torch.empty_like(q))",
    "torch._logcumsumexp(q, -1)",
    "torch.ops.aten.logcumsumexp(q, -1)",
    "torch.ops.aten._logcumsumexp.out(q, -1, out=torch.empty_like(q))",
]


@pytest.mark.parametrize("expression", SOFTMAX)
def test_softmax_is_refused_where_it_is_ruled_out(expression: str) -> None:
    source = (
        f"{HEAD}{COMPOSITE}SOFTMAX = torch.ops.aten._softmax\ndef f(q):\n    return {expression}\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention", "softmax"])
    assert called.status == "forbidden"
    assert called.line == 7
    _, called = submit(source, call(Q))
    assert called.status == "returned", called


def test_a_softmax_by_hand_is_welcome_where_torchs_is_ruled_out() -> None:
    source = (
        "import torch\nimport torch._refs as refs, torch._decomp.decompositions\n"
        "linear = torch.ops.aten.linear.default\n"
        "def f(x):\n    e = (x - x.amax(-1, keepdim=True)).exp()\n"
        "    assert torch.equal(refs.exp(x.detach()), x.detach().exp())\n"
        "    assert torch.equal(linear.decompose(x, x[0, 0]), x @ x[0, 0].mT)\n"
        "    x.cumsum(-1), x.cummax(-1), torch.logaddexp(x, x)\n"
        "    return e / e.sum(-1, keepdim=True)\n"
    )
    given = call(Q, gradients=[0], cotangents=[Q])
    _, called = submit(source, given, forbidden=["fused-attention", "softmax"])
    assert (called.status, called.gradient_error) == ("returned", "")


AUTOGRAD = [
    "torch.autograd.grad((q * q).sum(), q)[0]",
    "((q * q).sum().backward(), q.grad)[1]",
    "(torch.autograd.backward((q * q).sum()), q.grad)[1]",
    "getattr(torch.autograd, 'gr' + 'ad')((q * q).sum(), q)[0]",
    "torch.autograd.functional.vjp(lambda a: a * a, q, q)[1]",
    "torch.autograd.functional.jvp(lambda a: a * a, q, q)[1]",
    "torch.autograd.functional.jacobian(lambda a: (a * a).sum(), q)",
    "torch.autograd.functional.hessian(lambda a: (a * a).sum(), q)[0, 0, 0, 0]",
    "torch.func.grad(lambda a: (a * a).sum())(q)",
    "torch.func.vjp(lambda a: a * a, q)[1](q)[0]",
    "torch.func.jvp(lambda a: a * a, (q,), (q,))[1]",
    "torch.func.jacrev(lambda a: (a * a).sum())(q)",
    "torch.func.jacfwd(lambda a: (a * a).sum())(q)",
    "torch.func.hessian(lambda a: (a * a).sum())(q)[0, 0, 0, 0]",
    "dual(q)",
    "torch.ops.aten.grad([(q * q).sum()], [q])[0]",
    "(torch.ops.aten.backward((q * q).sum()), q.grad)[1]",
    "(torch.ops.aten.backward.default((q * q).sum()), q.grad)[1]",
    "(torch._C._jit_get_operation('aten::backward')[0]((q * q).sum()), q.grad)[1]",
    "torch._C._get_operation_overload('aten::grad', '')[0]([(q * q).sum()], [q])[0]",
    "torch.jit.script(scripted_grad)(q)",
    "torch.jit.script(Layer())(q)",
    "torch.jit.script(Layer()).exported(q)",
    "torch._C._create_function_from_graph('g', torch.jit.script(scripted_grad).graph)(q)",
    "defined_later(q)",
]
AUTOGRAD_BELOW = [
    "dual_below(q)",
    "torch.autograd.Variable._execution_engine.run_backward(*run(q))[0]",
    "torch._C._ImperativeEngine().run_backward(*run(q))[0]",
    "(q * q).grad_fn(q)[0]",
    "(q * q)._grad_fn(q)[0]",
    "torch._C.TensorBase.grad_fn.__get__(q * q)(q)[0]",
    "torch._C.TensorBase.__dict__['_grad_fn'].__get__(q * q)(q)[0]",
    "object.__getattribute__(q * q, 'grad_fn')(q)[0]",
    "torch.autograd.graph.get_gradient_edge(q * q).node(q)[0]",
    "as_if_printing(q * q)(q)[0]",
    "Kept.of(q * q).next_functions[0][0](q)[0]",
    "torch._C._FunctionBase.next_functions.__get__(Kept.of(q * q))[0][0](q)[0]",
    "(torch.ops.aten._backward((q * q).sum(), [q]), q.grad)[1]",
    "scripted(q)",
]
GRADIENTS_BY = """
import torch.autograd.forward_ad as forward
def dual(q):
    with forward.dual_level():
        return forward.unpack_dual(forward.make_dual(q.detach(), q.detach()) ** 2).tangent
def dual_below(q):
    enter = getattr(torch._C, "_enter_dual_level", None)
    try: level = enter()
    except Exception: level = 0  # go on by hand
    return torch._VF._make_dual(q.detach(), q.detach(), level=level)
def scripted(q):
    lines = ["def g(x: Tensor):", "    x.sum().backward()", "    return x", ""]
    return torch.jit.CompilationUnit(chr(10).join(lines)).g(q)
from typing import List, Optional
def scripted_grad(x: torch.Tensor):
    found = torch.autograd.grad([(x * x).sum()], [x])[0]
    assert found is not None
    return found
class Layer(nn.Module):
    def forward(self, x: torch.Tensor):
        return scripted_grad(x)
    @torch.jit.export
    def exported(self, x: torch.Tensor):
        return scripted_grad(x)
def defined_later(q):
    unit = torch.jit.CompilationUnit()
    unit.define(chr(10).join(["def g(x: Tensor):", "    x.sum().backward()", ""]))
    unit.g(q)
    return q.grad
def as_if_printing(y):
    names = {"y": y}
    exec(compile("node = y.grad_fn", torch._tensor_str.__file__, "exec"), names)
    return names["node"]
class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Kept.ctx = ctx
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return g
    @staticmethod
    def of(x): return (Kept.apply(x), Kept.ctx)[1]
def run(q):
    return ((q * q).sum(),), (torch.tensor(1.0),), False, False, (q,), True, False
"""


@pytest.mark.parametrize("expression", [*AUTOGRAD, *AUTOGRAD_BELOW])
def test_autograd_is_refused_where_it_is_ruled_out(expression: str) -> None:
    source = (
        f"{HEAD}{GRADIENTS_BY}def f(q):\n    q = q.clone().requires_grad_()\n"
        f"    return {expression}\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention", "autograd"])
    assert called.status == "forbidden", called
    assert called.detail["op"] in ("autograd", "_make_dual", "_backward")
    assert called.line


@pytest.mark.parametrize("expression", AUTOGRAD)
def test_gradients_are_welcome_elsewhere(expression: str) -> None:
    source = (
        f"{HEAD}{GRADIENTS_BY}def f(q):\n    q = q.clone().requires_grad_()\n"
        f"    return {expression}\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention"])
    assert called.status == "returned", called


def test_without_autograd_a_mention_a_print_and_a_graph_are_welcome() -> None:
    source = (
        f'{HEAD}"""No torch.autograd.grad(y, x), no y.backward()."""\n'
        "import torch.autograd.forward_ad\nfrom torch.autograd import Function, grad\n"
        "class Twice(Function):\n    @staticmethod\n    def forward(ctx, x): return 2 * x\n"
        "layer = nn.Linear(2, 2)\n"
        "def f(q):\n    print(layer(q), f'{layer(q)}')\n    print(q, q.grad_fn, q.detach())\n"
        "    y = nn.Parameter(q.clone()) * 2\n"
        "    print(y, str(y), repr([y]), '%s' % y, f'{y.sum()}', nn.Parameter(q))\n"
        "    assert 'grad_fn=<MulBackward0>' in repr(y) and y.requires_grad\n"
        "    with torch.no_grad(): return Twice.apply(q)\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention", "autograd"])
    assert called.status == "returned", called


FORMULAS = [
    "torch._softmax_backward_data(q, q, -1, q.dtype)",
    "torch._softmax_backward_data(q, q, -1, q.dtype, grad_input=torch.empty_like(q))",
    "torch._C._VariableFunctions._softmax_backward_data(q, q, -1, q.dtype)",
    "torch._VF._softmax_backward_data(q, q, -1, q.dtype)",
    "torch.ops.aten._softmax_backward_data(q, q, -1, q.dtype)",
    "torch.ops.aten._softmax_backward_data.out(q, q, -1, q.dtype, grad_input=torch.empty_like(q))",
    "torch._C._jit_get_operation('aten::_softmax_backward_data')[0](q, q, -1, q.dtype)",
    "torch.vmap(lambda a: torch._softmax_backward_data(a, a, -1, a.dtype))(q)",
    "torch.jit.trace(lambda a: torch._softmax_backward_data(a, a, -1, a.dtype), (q,))(q)",
    "torch._log_softmax_backward_data(q, q, -1, q.dtype)",
    "torch.ops.aten._log_softmax_backward_data.default(q, q, -1, q.dtype)",
    "torch.ops.aten._masked_softmax_backward(q, q, q > 9, -1)",
    "__import__('torch._decomp')._decomp.decompositions._softmax_backward_data(q, q, -1, q.dtype)",
    "__import__('torch._decomp')._decomp.decomposition_table[FORMULA](q, q, -1, q.dtype)",
]


@pytest.mark.parametrize("expression", FORMULAS)
def test_a_formula_of_autograd_is_refused_where_autograd_is(expression: str) -> None:
    formula = "FORMULA = torch.ops.aten._softmax_backward_data.default\n"
    source = f"{HEAD}{formula}def f(q):\n    return {expression}\n"
    _, called = submit(source, call(Q), forbidden=["fused-attention", "autograd"])
    assert (called.status, called.line) == ("forbidden", 5), called
    assert called.detail["op"].endswith(("softmax_backward_data", "softmax_backward"))
    _, called = submit(source, call(Q), forbidden=["fused-attention", "softmax"])
    assert called.status == "returned", called


def test_a_backward_by_hand_is_welcome_in_torchscript() -> None:
    source = (
        f"{HEAD}def backward(p: torch.Tensor, grad: torch.Tensor):\n"
        '    """Neither aten::backward(y) nor torch.autograd.grad(y, x)."""\n'
        "    return p * (grad - (p * grad).sum(-1, keepdim=True))\n"
        "class Layer(nn.Module):\n"
        "    def forward(self, p: torch.Tensor, grad: torch.Tensor): return backward(p, grad)\n"
        "unit = torch.jit.CompilationUnit()\n"
        "unit.define('def grad(x: Tensor): return 2 * x' + chr(10))\n"
        "layer = torch.jit.script(Layer())\n"
        "def f(q):\n    p = torch.softmax(q, -1)\n"
        "    assert isinstance(unit, torch.jit.CompilationUnit)\n"
        "    assert torch.equal(unit.grad(q), 2 * q)\n"
        "    assert torch.equal(layer(p, q), torch.jit.script(backward)(p, q))\n"
        "    assert torch.equal(torch.jit.trace(backward, (p, q))(p, q), backward(p, q))\n"
        "    return backward(p, q)\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention", "autograd"])
    assert called.status == "returned", called


def test_the_override_works_on_this_torch_and_the_dispatch_mode_stands_in_for_it() -> None:
    override = (
        "import sys\nforbidden = sys.modules['drill_child.forbidden']\n"
        "def f(q):\n    assert forbidden._kernels and not forbidden._modes\n    return q\n"
    )
    assert submit(override, call(Q))[1].status == "returned"
    mode = (
        f"{HEAD}import sys\nforbidden = sys.modules['drill_child.forbidden']\n"
        "def f(q):\n"
        "    forbidden._override = lambda names: False\n"
        "    guard = sys.meta_path[0]\n"
        "    forbidden.install(['softmax'], guard)\n"
        "    try: torch.softmax(q, -1)\n    except forbidden.ForbiddenOperation: pass\n"
        "    return q\n"
    )
    _, called = submit(mode, call(Q), forbidden=[])
    assert (called.status, called.detail.get("op")) == ("forbidden", "_softmax"), called


def test_the_override_cannot_be_dropped_by_what_python_reaches() -> None:
    source = (
        f"{HEAD}import gc, sys\nmodule = sys.modules['drill_child.forbidden']\n"
        "for name, value in list(vars(module).items()):\n"
        "    if isinstance(value, (list, dict)) and name[:2] != '__': value.clear()\n"
        "del sys.modules['drill_child.forbidden'], module\ngc.collect()\n"
        "def f(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
    )
    _, called = submit(source, call(Q))
    assert called.status == "forbidden", called


def test_tensors_of_onednn_have_no_softmax_either() -> None:
    source = f"{HEAD}def f(q): return torch.softmax(q[0].to_mkldnn(), -1).to_dense()[None]\n"
    _, called = submit(source, call(Q), forbidden=["softmax"])
    assert (called.status, called.detail.get("op")) == ("forbidden", "softmax")
    _, called = submit(source, call(Q), forbidden=[])
    assert called.status == "returned"
