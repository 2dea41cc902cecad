"""Below the refusals: raw handles, other keys and devices, kernels laid over ours, and originals
dug out of what stands in their place. Nothing of it runs what is ruled out."""

from __future__ import annotations

import pytest
from isolation_harness import Answer, call, submit, tensor

Q = tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
HEAD = """import gc, importlib, io, sys, types
import torch, torch.nn as nn
import torch.nn.functional as F
"""
WAYS = """
C, KEY, KEYS = torch._C, torch._C.DispatchKey, torch._C.DispatchKeySet
SDPA, MATH = "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"
CPU = KEYS(KEY.CPU) | KEYS(KEY.AutogradCPU)

def cells(function):  # what a replacement keeps of what it replaces
    kept = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return [value for value in kept if callable(value)] or [function]

class Elsewhere(torch.Tensor):  # on another device to the dispatcher, computed on the CPU
    @staticmethod
    def __new__(cls, real):
        made = torch.Tensor._make_wrapper_subclass(cls, real.shape, dtype=real.dtype, device="meta")
        made.held = real
        return made
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        bare = lambda value: value.held if isinstance(value, cls) else value
        result = func(*[bare(value) for value in args], **(kwargs or {}))
        return cls(result) if isinstance(result, torch.Tensor) else result

def elsewhere(q):
    q = Elsewhere(q)
    return F.scaled_dot_product_attention(q, q, q).held

def traced(q):
    from torch.fx.experimental.proxy_tensor import make_fx
    attention = lambda a: F.scaled_dot_product_attention(a, a, a)
    return make_fx(attention, tracing_mode="fake")(q)(q)

def overload_anew(q):
    find = cells(C._get_operation_overload)[0]
    packet = torch.ops.aten._scaled_dot_product_attention_math
    op, by_key, tags = find(MATH, "")
    made = torch._ops.OpOverload(packet, op, by_key, packet.default._schema, tags)
    return by_key(KEY.CompositeImplicitAutograd, q, q, q)[0] + 0 * made(q, q, q)[0]

def boxed(q):
    handle = C._dispatch_find_schema_or_throw(SDPA, "")
    return C._dispatch_call_boxed(handle, q, q, q, None, 0.0, False)

def computed(q):
    kernel = C._dispatch_get_computed_kernel_for_dispatch_key(MATH, "CPU")
    return kernel.call_boxed(KEYS(KEY.CPU), q, q, q)[0]

def redispatched(q):
    overload = torch.ops.aten._scaled_dot_product_attention_math.default
    way = type(overload).redispatch
    way = getattr(overload, "_handle", overload).redispatch_boxed if way is None else way
    return way(overload, KEYS(KEY.Meta), q, q, q)[0]

def laid_over(q):
    library = torch.library.Library("aten", "IMPL")
    for key in ("CPU", "AutogradCPU", "FuncTorchDynamicLayerFrontMode"):
        library.impl(SDPA, torch.library.fallthrough_kernel, key)
    return F.scaled_dot_product_attention(q, q, q)

def laid_over_and_removed(q):
    library = C._dispatch_library("IMPL", "aten", "CPU", "answer.py", 1)
    library.impl("scaled_dot_product_attention", "CPU", lambda *a: a[0], False)
    del library
    gc.collect()
    with torch.inference_mode():
        return F.scaled_dot_product_attention(q, q, q)

def forced(q):
    with C._ForceDispatchKeyGuard(KEYS(KEY.PrivateUse1), CPU):
        return F.scaled_dot_product_attention(q, q, q)

def imported_again(q):
    flex = importlib.reload(importlib.import_module("torch._higher_order_ops.flex_attention"))
    mask = (1, 1) + (None,) * 8 + (1, 1, lambda b, h, m, n: n >= 0)
    return flex.math_attention(q, q, q, lambda s, *at: s, mask, 1.0, {})[0]

def quantizable(q):
    from torch.ao.nn.quantizable import MultiheadAttention
    return MultiheadAttention(2, 1)(q[0], q[0], q[0])[0][None]

def found_by_the_collector(q):
    gc.unfreeze()
    called = [o for o in gc.get_objects() if isinstance(o, types.FunctionType)
              and o.__qualname__ == "MultiheadAttention.forward"
              and o.__module__ == nn.MultiheadAttention.__module__]
    return called[-1](nn.MultiheadAttention(2, 1), q[0], q[0], q[0])[0][None]
"""
FUSED = [
    "elsewhere",
    "traced",
    "overload_anew",
    "boxed",
    "computed",
    "redispatched",
    "laid_over",
    "laid_over_and_removed",
    "forced",
    "imported_again",
    "quantizable",
    "found_by_the_collector",
]


def tried(way: str, group: str, *, ways: str = WAYS, forbidden: bool = True) -> Answer:
    source = f"{HEAD}{ways}\ndef f(q):\n    return {way}(q)\n"
    groups = [group] if forbidden else []
    loaded, called = submit(source, call(Q), forbidden=groups)
    assert loaded.status == "returned", loaded
    return called


FUSED_IN_PYTHON = """
def by_a_pattern(q):
    from torch._inductor.fx_passes.fuse_attention import _sfdp_pattern_5
    return _sfdp_pattern_5(q, q, q, torch.zeros(2, 2), 1.0)

def by_onnx(q):
    from torch.onnx.ops import _impl
    return _impl.attention_23._init_fn(q, q, q)[0]

def by_onnxs_operation(q):
    import torch.onnx.ops
    return torch.ops.onnx.Attention.opset23(q, q, q)[0]
"""


@pytest.mark.parametrize("way", ["by_a_pattern", "by_onnx", "by_onnxs_operation"])
def test_attention_that_torch_writes_in_python_for_others_is_refused(way: str) -> None:
    called = tried(way, "fused-attention", ways=FUSED_IN_PYTHON)
    assert called.status == "forbidden", called
    assert called.line
    assert tried(way, "fused-attention", ways=FUSED_IN_PYTHON, forbidden=False).status == "returned"


@pytest.mark.parametrize("way", FUSED)
def test_no_way_below_the_refusals_leads_to_fused_attention(way: str) -> None:
    called = tried(way, "fused-attention")
    assert called.status == "forbidden", called
    assert called.line


def test_scripted_attention_has_no_source_to_be_compiled_from() -> None:
    way = "torch.jit.script(nn.MultiheadAttention(2, 1))"
    source = f"{HEAD}def f(q): return {way}(q[0], q[0], q[0])[0][None]\n"
    _, called = submit(source, call(Q))
    assert called.status == "exception", called
    _, called = submit(source, call(Q), forbidden=[])
    assert called.status == "returned", called


SOFTMAX_WAYS = """
def traced(q):
    from torch.fx.experimental.proxy_tensor import make_fx
    table = torch._decomp.get_decompositions([torch.ops.aten._softmax])
    return make_fx(lambda a: torch.softmax(a, -1), table, tracing_mode="fake")(q)(q)

def meta(q):
    return torch.softmax(q.to("meta"), -1)

def static(q):
    @torch.jit.script
    def scripted(x: torch.Tensor): return torch.softmax(x, -1)
    return torch._C._jit_to_static_module(scripted.graph)(q)

def sparse(q):
    return torch.sparse.softmax(q[0, 0].to_sparse(), -1).to_dense()[None, None]

def nested(q):
    return torch.softmax(torch.nested.nested_tensor(list(q[0])), -1)[0][None, None]
"""


SOFTMAX_WAYS += '''
def by_the_compiler(q):
    torch._C._jit_set_te_must_use_llvm_cpu(False)
    kind = "Float(2, 2, strides=[2, 1], requires_grad=0, device=cpu)"
    graph = torch._C.parse_ir(f"""
graph(%x : {kind}):
  %d : int = prim::Constant[value=-1]()
  %n : NoneType = prim::Constant()
  %r : {kind} = aten::softmax(%x, %d, %n)
  return (%r)""")
    return torch._C._te.TensorExprKernel(graph).run((q[0, 0],))[None, None]

def by_a_prim(q):
    import torch._inductor.inductor_prims
    return torch.ops.prims.prepare_softmax_online(q, -1)[0] * q

def by_what_the_prim_runs(q):
    from torch._inductor.inductor_prims import eager_prepare_softmax
    return eager_prepare_softmax(q, -1)[0] * q
'''
SOFTMAX_ELSEWHERE = ["by_the_compiler", "by_a_prim", "by_what_the_prim_runs"]


@pytest.mark.parametrize("way", SOFTMAX_ELSEWHERE)
def test_what_else_softens_is_welcome_where_softmax_is(way: str) -> None:
    called = tried(way, "softmax", ways=SOFTMAX_WAYS, forbidden=False)
    assert called.status == "returned", called


@pytest.mark.parametrize(
    "way", ["traced", "meta", "static", "sparse", "nested", *SOFTMAX_ELSEWHERE]
)
def test_no_way_below_the_refusals_leads_to_softmax(way: str) -> None:
    called = tried(way, "softmax", ways=SOFTMAX_WAYS)
    assert called.status == "forbidden", called
    assert called.line


AUTOGRAD_WAYS = """
C = torch._C

def cells(function):
    kept = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return [value for value in kept if callable(value)] or [function]

def start(engine, q):
    return engine.run_backward(((q * q).sum(),), (torch.tensor(1.0),), False, False, (q,), True)[0]

def engine_by_its_class(q):
    (engine,) = [kind for kind in object.__subclasses__() if kind.__name__ == "_EngineBase"]
    return start(engine(), q)

def node_by_the_replaced_getter(q):
    getter = C.TensorBase.grad_fn
    if isinstance(getter, property):
        (getter,) = [cell.cell_contents for cell in getter.fget.__closure__
                     if hasattr(cell.cell_contents, "__get__")
                     and not isinstance(cell.cell_contents, types.FunctionType)]
    return getter.__get__(q * q)(q)[0]

def node_by_the_type(q):
    node = (q * q).grad_fn
    return type(node).__call__(node, q)[0]

def node_by_the_collector(q):
    y = q * q
    y.register_hook(print)
    return y.grad_fn.next_functions[0][0](q)[0]

def scripted_node(q):
    @torch.jit.script
    def scripted(x: torch.Tensor): return torch.tanh(x * x) * x
    for _ in range(4): y = scripted(q)
    assert "Differentiable" in y.grad_fn.name()
    for count in range(1, 9):
        try: return y.grad_fn(*[q] * count)[0]
        except TypeError: pass

@torch.jit.script
def scripted(x: torch.Tensor):
    found = torch.autograd.grad([(x * x).sum()], [x])[0]
    assert found is not None
    return found

def script_by_the_replaced_call(q):
    for way in cells(C.ScriptFunction.__call__):
        try: return way(scripted, q)
        except TypeError: pass

def differentiated(q):
    @torch.jit.script
    def square(x: torch.Tensor): return x * x
    C._jit_pass_inline(square.graph)
    return C._jit_differentiate(square.graph.copy()).df

def reverse_graph(q):
    @torch.jit.script
    def scripted(x: torch.Tensor): return torch.tanh(x * x) * x
    for _ in range(4): scripted(q)
    (node,) = C._last_executed_optimized_graph().findAllNodes("prim::DifferentiableGraph")
    return C._create_function_from_graph("reverse", node.g("ReverseSubgraph"))

def in_a_thread(q):
    import threading
    thread = threading.Thread(target=scripted, args=(q,))
    thread.start()
    thread.join()
    return q

def forked(q):
    return torch.jit.wait(torch.jit.fork(scripted, q))

def distributed(q):
    engine = C._distributed_autograd
    engine._init(0)
    context = engine._new_context()._context_id()
    engine.backward(context, [(q * q).sum()], False)
    return engine.get_gradients(context)[q]

def compiler_taken_off(q):
    C._dynamo.compiled_autograd.set_autograd_compiler(None, False)
    return scripted(q)
"""
AUTOGRAD_WAYS += """
def by_an_executor(q):
    C._jit_set_profiling_executor(False)
    C._debug_set_autodiff_subgraph_inlining(False)
    unit = torch.jit.CompilationUnit(chr(10).join(
        ["def stage(x):", "    return torch.exp(torch.matmul(x, x) * x)", ""]))
    for _ in range(2): unit.stage(q)
    (plan,) = unit.stage.get_debug_state().execution_plans.values()
    return [state.graph for state in plan.code.grad_executor_states()] and q

def by_flex_attention(q):
    import torch._inductor.kernel.flex
    flex = sys.modules["torch._higher_order_ops.flex_attention"]
    return flex.sdpa_dense_backward(*[q] * 3, q, q[..., 0], q, None, *[None] * 3, 1.0, {}, (), ())
"""
AUTOGRAD = [
    "by_an_executor",
    "by_flex_attention",
    "engine_by_its_class",
    "node_by_the_replaced_getter",
    "node_by_the_type",
    "node_by_the_collector",
    "scripted_node",
    "script_by_the_replaced_call",
    "differentiated",
    "reverse_graph",
    "in_a_thread",
    "forked",
    "distributed",
    "compiler_taken_off",
]


@pytest.mark.parametrize("way", AUTOGRAD)
def test_no_way_below_the_refusals_leads_to_a_gradient(way: str) -> None:
    leaf = "leaf = lambda q: q.clone().requires_grad_()\n"
    called = tried(f"(lambda q: {way}(leaf(q)))", "autograd", ways=AUTOGRAD_WAYS + leaf)
    assert called.status == "forbidden", called
    assert called.detail["op"] in ("autograd", "flex_attention's backward")
    assert called.line or way == "in_a_thread"


def test_a_graph_may_be_looked_at_and_take_hooks_that_never_fire() -> None:
    source = (
        f"{HEAD}from torch.autograd.graph import Node, get_gradient_edge\n"
        "class Twice(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n        return 2 * x\n"
        "    @staticmethod\n    def backward(ctx, grad): return 2 * grad\n"
        "def seen(node, names):\n"
        "    if node is not None:\n"
        "        names.append(node.name())\n"
        "        for follower, _ in node.next_functions: seen(follower, names)\n"
        "    return names\n"
        "def f(q):\n"
        "    q = q.clone().requires_grad_()\n    y = torch.softmax(q @ q.mT, -1) @ Twice.apply(q)\n"
        "    assert q.is_leaf and q.grad_fn is None and y.grad_fn is not None\n"
        "    assert isinstance(y.grad_fn, Node) and y.grad_fn == y.grad_fn\n"
        "    print(y.grad_fn, type(y.grad_fn).__name__, repr(y))\n"
        "    names = seen(y.grad_fn, [])\n"
        "    assert 'SoftmaxBackward0' in names and 'TwiceBackward' in names, names\n"
        "    fired = []\n"
        "    y.register_hook(fired.append)\n    y.retain_grad()\n"
        "    y.grad_fn.register_hook(lambda *a: fired.append(a)).remove()\n"
        "    y.grad_fn.register_prehook(fired.append)\n"
        "    q.register_post_accumulate_grad_hook(fired.append)\n"
        "    torch.autograd.graph.register_multi_grad_hook([q, y], fired.append)\n"
        "    assert get_gradient_edge(y).node is y.grad_fn and q.grad is None and not fired\n"
        "    return y.detach()\n"
    )
    _, called = submit(source, call(Q), forbidden=["fused-attention", "autograd"])
    assert called.status == "returned", called
    assert "BmmBackward0" in called.stdout or "ViewBackward0" in called.stdout
