"""Values cross as raw bytes into buffers that the judge made: only what fits is copied."""

from __future__ import annotations

import math

import pytest
import torch
from isolation_harness import X, call, submit, tensor


def kind_of(expression: str, **changes: object) -> dict[str, object]:
    source = (
        f"import numpy as np\nimport torch\nclass Sub(torch.Tensor): pass\n"
        f"def f(x):\n    return {expression}\n"
    )
    loaded, called = submit(source, call(X), **changes)
    assert loaded.status == "returned", loaded
    assert called.status == "returned", called
    assert len(called.headers) == 1
    return {**called.headers[0], "copied": called.outputs[0] is not None}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("None", "None"),
        ("[x]", "list"),
        ("(x,)", "tuple"),
        ("{'out': x}", "dict"),
        ("(v for v in x)", "generator"),
        ("x.tolist()", "list"),
        ("3.5", "float"),
        ("np.float32(1)", "float32"),
        ("x.as_subclass(Sub)", "Tensor subclass"),
        ("x.to_sparse()", "sparse"),
        ("x.to_sparse_csr()", "sparse"),
        ("x.to_mkldnn()", "mkldnn"),
        ("torch.nested.nested_tensor([x])", "nested"),
        ("x.to('meta')", "meta"),
        ("x.numpy()", "NumPy array"),
    ],
)
def test_what_is_no_plain_tensor_is_named_and_not_copied(expression: str, kind: str) -> None:
    found = kind_of(expression)
    assert found["kind"] == kind
    assert not found["copied"]


def test_a_coroutine_is_named() -> None:
    _, called = submit("async def f(x): return x\n", call(X))
    assert called.headers[0]["kind"] == "coroutine"


@pytest.mark.parametrize(
    ("expression", "shape", "dtype"),
    [
        ("x[:, :2]", [2, 2], "float32"),
        ("x.T", [3, 2], "float32"),
        ("x[None]", [1, 2, 3], "float32"),
        ("x.sum()", [], "float32"),
        ("x.double()", [2, 3], "float64"),
        ("x.bfloat16()", [2, 3], "bfloat16"),
        ("x > 1", [2, 3], "bool"),
        ("x + 1j", [2, 3], "complex64"),
        ("x.to(torch.float8_e4m3fn)", [2, 3], "float8_e4m3fn"),
        ("torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)", [2, 3], "qint8"),
        ("torch.zeros(1).expand(10**6, 10**6)", [10**6, 10**6], "float32"),
        ("torch.zeros(0).expand(2**62, 0)", [2**62, 0], "float32"),
    ],
)
def test_another_shape_or_dtype_is_told_and_not_copied(
    expression: str, shape: list[int], dtype: str
) -> None:
    assert kind_of(expression) == {
        "kind": "tensor",
        "shape": shape,
        "dtype": dtype,
        "copied": False,
    }


@pytest.mark.parametrize(
    "expression",
    [
        "x.clone()",
        "x.T.contiguous().T",
        "torch.ones(1).expand(2, 3)",
        "torch.nn.Parameter(x)",
        "x.clone().requires_grad_() * 1",
        "torch.arange(12.)[::2].view(2, 3)",
        "torch.complex(x, x).conj().imag",
    ],
)
def test_any_layout_of_right_shape_and_dtype_is_copied(expression: str) -> None:
    assert kind_of(expression)["copied"]
    expected = eval(expression, {"torch": torch, "x": torch.tensor([[1.0, 2, 3], [4, 5, 6]])})
    _, called = submit(f"import torch\ndef f(x): return {expression}\n", call(X))
    assert called.outputs[0] == expected.tolist()


def test_several_outputs_may_be_a_tuple_a_list_or_a_named_tuple() -> None:
    two = [[[2, 3], ["float32"]], [[3], ["float32"]]]
    head = "from collections import namedtuple\nP = namedtuple('P', 'a b')\n"
    for form in ("(x, x[0])", "[x, x[0]]", "P(x, x[0])"):
        _, called = submit(f"{head}def f(x): return {form}\n", call(X, outputs=two))
        assert called.outputs == [[[1, 2, 3], [4, 5, 6]], [1, 2, 3]]
    for form, n in (("x", 1), ("(x,)", 1), ("(x, x[0], x)", 3), ("[x] * 40", 16)):
        _, called = submit(f"def f(x): return {form}\n", call(X, outputs=two))
        assert len(called.headers) == n, form
        assert called.outputs[1] is None or n == 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "bool"])
def test_every_dtype_crosses_exactly(dtype: str) -> None:
    data = [True, False, True] if dtype == "bool" else [1, -3, 0]
    given = tensor(data, dtype)
    _, called = submit("def f(x): return x.clone()\n", call(given, outputs=[[[3], [dtype]]]))
    assert called.outputs == [[1.0, float(data[1]), float(data[2])]]
    assert called.outputs_dtypes == [dtype]


def test_infinities_and_nan_cross_and_an_unchanged_nan_is_no_change() -> None:
    given = tensor([math.inf, -math.inf, math.nan])
    _, called = submit("def f(x): return x.clone()\n", call(given))
    out = called.outputs[0]
    assert out[:2] == [math.inf, -math.inf]
    assert math.isnan(out[2])
    assert called.inputs_changed == []


def test_empty_tensors_are_ordinary_arguments_outputs_and_gradients() -> None:
    empty = tensor([], shape=(2, 0, 3))
    source = (
        "def f(x, y):\n    assert x.is_leaf and x.requires_grad and x.shape == (2, 0, 3)\n"
        "    return x * 2\n"
    )
    asked = call(empty, X, outputs=[[[2, 0, 3], ["float32"]]], gradients=[0], cotangents=[empty])
    _, called = submit(source, asked)
    assert called.status == "returned", called
    assert called.outputs == [[[], []]]
    assert called.gradients == [[[], []]]


def test_plain_arguments_and_keywords_arrive_as_they_are() -> None:
    source = (
        "def f(x, n, scale, flag, nothing=0, base=1.0):\n"
        "    assert (n, scale, flag, nothing) == (3, 0.1, True, None)\n"
        "    assert type(n) is int and type(flag) is bool and base == 1e4\n"
        "    assert x.is_contiguous() and x.is_leaf and not x._is_view()\n"
        "    return x\n"
    )
    _, called = submit(source, call(X, 3, 0.1, True, nothing=None, base=1e4))
    assert called.status == "returned", called


def test_numpy_submissions_get_and_return_arrays() -> None:
    source = (
        "import numpy as np\ndef f(x):\n"
        "    assert type(x) is np.ndarray and x.flags.c_contiguous and x.flags.writeable\n"
        "    return x.astype(np.float64)[:, ::-1]\n"
    )
    outputs = [[[2, 3], ["float32", "float64"]]]
    _, called = submit(source, call(X, outputs=outputs), framework="numpy")
    assert called.status == "returned", called
    assert called.outputs == [[[3, 2, 1], [6, 5, 4]]]
    assert called.headers[0] == {"kind": "array", "shape": [2, 3], "dtype": "float64"}
    source = "import torch\ndef f(x): return torch.from_numpy(x)\n"
    _, called = submit(source, call(X, outputs=outputs), framework="numpy")
    assert called.headers[0]["kind"] == "torch tensor"
    assert called.outputs == [None]
    _, called = submit("def f(x):\n    x *= 2\n    return x\n", call(X), framework="numpy")
    assert called.inputs_changed == [0]


@pytest.mark.parametrize(
    "statement",
    [
        "y.mul_(2)",
        "y[0, 0] = -0.0",
        "y.t_()",
        "y.resize_(1, 1)",
        "y.unsqueeze_(0)",
        "y.data = y.data.clone()",
        "y.data = y.double()",
        "mask.logical_not_()",
        "mask.fill_(False)",
    ],
)
def test_a_changed_input_is_found_by_bytes_or_by_metadata(statement: str) -> None:
    source = f"def f(x, y, n, mask=None):\n    z = x.clone()\n    {statement}\n    return z\n"
    given = call(X, tensor([[0.0, 1, 2], [3, 4, 5]]), 7, mask=tensor([True, False], "bool"))
    _, called = submit(source, given)
    assert called.status == "returned", called
    assert called.inputs_changed == [3 if "mask" in statement else 1]
    assert called.outputs == [[[1, 2, 3], [4, 5, 6]]]


def test_an_input_changed_before_an_exception_is_found() -> None:
    _, called = submit("def f(x):\n    x.zero_()\n    raise ValueError\n", call(X))
    assert (called.status, called.inputs_changed) == ("exception", [0])


def test_what_a_thread_writes_after_the_return_changes_nothing() -> None:
    source = (
        "import threading, time\ndef f(x):\n    out = x * 2\n"
        "    def later():\n        time.sleep(0.05); out.zero_(); x.zero_()\n"
        "    threading.Thread(target=later).start()\n    return out\n"
    )
    _, first, second = submit(source, call(X), call(X))
    assert first.outputs == second.outputs == [[[2, 4, 6], [8, 10, 12]]]
    assert first.inputs_changed == []


def test_an_output_that_is_never_written_reads_as_nan_not_as_an_older_answer() -> None:
    source = (
        "import torch\ndef f(x):\n    return x * 2\ntorch.Tensor.copy_ = lambda self, other: self\n"
    )
    _, first, second = submit(source, call(X), call(X))
    for called in (first, second):
        assert all(math.isnan(v) for row in called.outputs[0] for v in row)


def test_gradients_are_those_of_the_cotangent_product() -> None:
    source = "def f(x, w, unused):\n    return (x @ w).softmax(-1), x.sum(-1)\n"
    torch.manual_seed(0)
    x, w, u = torch.randn(2, 3), torch.randn(3, 4), torch.randn(2)
    c, d = torch.randn(2, 4), torch.randn(2)
    given = call(
        *(tensor(t.tolist()) for t in (x, w, u)),
        outputs=[[[2, 4], ["float32"]], [[2], ["float32"]]],
        gradients=[1, 0, 2],
        cotangents=[tensor(c.tolist()), tensor(d.tolist())],
    )
    _, called = submit(source, given)
    assert (called.status, called.gradient_error) == ("returned", "")
    x.requires_grad_()
    w.requires_grad_()
    expected = torch.autograd.grad(((x @ w).softmax(-1), x.sum(-1)), (w, x), (c, d))
    assert called.gradients[2] is None
    torch.testing.assert_close(torch.tensor(called.gradients[0]), expected[0])
    torch.testing.assert_close(torch.tensor(called.gradients[1]), expected[1])


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("x.detach() * 2", "the graph was cut"),
        ("torch.tensor(x.tolist())", "the graph was cut"),
        ("Bad.apply(x)", "ZeroDivisionError"),
    ],
)
def test_a_gradient_that_cannot_be_taken_leaves_the_values(expression: str, words: str) -> None:
    source = (
        "import torch\nclass Bad(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x): return x * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return 1 / 0\n"
        f"def f(x):\n    return {expression}\n"
    )
    _, called = submit(source, call(X, gradients=[0], cotangents=[X]))
    assert called.status == "returned"
    assert words in called.gradient_error
    assert called.gradients == [None]
    assert called.outputs[0] is not None


def test_a_message_from_the_submission_is_capped() -> None:
    source = "def f(x): raise ValueError('é' * 10**6)\n"
    _, called = submit(source, call(X))
    assert called.error.startswith("ValueError: éé")
    assert len(called.error.encode()) <= 8200


def test_what_is_drawn_is_the_same_in_every_process_and_another_at_every_call() -> None:
    source = (
        "import torch\nat_load = torch.rand(2, 3)\ndef f(x): return at_load + torch.rand(2, 3)\n"
    )
    (_, *once), (_, *again) = (submit(source, call(X), call(X)) for _ in range(2))
    assert [called.outputs for called in once] == [called.outputs for called in again]
    assert once[0].outputs != once[1].outputs
