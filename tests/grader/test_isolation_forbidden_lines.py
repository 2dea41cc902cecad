"""A refusal has the submission's line: the one that runs, else the only one that names the
operation, else none."""

from __future__ import annotations

import pytest
from isolation_harness import Answer, call, submit, tensor

Q = tensor([[1.0, 2.0], [3.0, 4.0]])
HEAD = "import functools, threading, torch, torch.nn as nn\nimport torch.nn.functional as F\n"


def refused(source: str, *, group: str = "softmax") -> Answer:
    """The refusal of the load or of the call, with the line that it names."""
    answers = submit(HEAD + source, call(Q), forbidden=[group])
    return next(answer for answer in answers if answer.status == "forbidden")


def line_of(mark: str, source: str) -> int:
    (line,) = [n for n, text in enumerate((HEAD + source).split("\n"), 1) if mark in text]
    return line


RUNNING = {
    "inside torch's own frames": "layer = nn.Softmax(-1)\ndef f(q):\n    return layer(q)  # here\n",
    "over several lines": (
        "def f(q):\n    return (\n        q\n        + torch.softmax(  # here\n"
        "            q,\n            -1,\n        )\n    )\n"
    ),
    "a lambda": "soft = lambda q: torch.softmax(q, -1)  # here\ndef f(q):\n    return soft(q)\n",
    "a comprehension": (
        "def f(q):\n    rows = [\n        row.softmax(-1)  # here\n        for row in q\n    ]\n"
        "    return torch.stack(rows)\n"
    ),
    "a generator": (
        "def rows(q):\n    for row in q:\n        yield row.softmax(-1)  # here\n"
        "def f(q):\n    return torch.stack(list(rows(q)))\n"
    ),
    "a decorator": (
        "def soft(function):\n    @functools.wraps(function)\n    def g(q):\n"
        "        return F.softmax(function(q), -1)  # here\n    return g\n"
        "@soft\ndef f(q):\n    return q\n"
    ),
    "under torch's decorator": ("@torch.no_grad()\ndef f(q):\n    return q.softmax(-1)  # here\n"),
    "by functools.partial": (
        "soft = functools.partial(torch.softmax, dim=-1)\ndef f(q):\n    return soft(q)  # here\n"
    ),
    "through C": ("def f(q):\n    return torch.stack(list(map(F.softmax, q, [-1, -1])))  # here\n"),
    "under vmap": (
        "def row(x):\n    return x.softmax(-1)  # here\ndef f(q):\n    return torch.vmap(row)(q)\n"
    ),
    "while it is imported": "X = torch.ones(2).softmax(-1)  # here\ndef f(q):\n    return q\n",
    "in a string that it runs": (
        "def f(q):\n    exec('import torch' + chr(10) * 9 + 'y = torch.softmax(q, -1)')  # here\n"
        "    return q\n"
    ),
    "in a function of its own in a thread": (
        "def work(q):\n    torch.softmax(q, -1)  # here\n"
        "def f(q):\n    t = threading.Thread(target=work, args=(q,))\n    t.start()\n    t.join()\n"
        "    return q\n"
    ),
    "the call of a scripted function": (
        "@torch.jit.script\ndef soft(q):\n    return torch.softmax(q, -1)\n"
        "def f(q):\n    return soft(q)  # here\n"
    ),
    "code with the file's name and a line that it lacks": (
        "code = compile(chr(10) * 99 + 'y = torch.softmax(q, -1)', __file__, 'exec')\n"
        "def f(q):\n    exec(code, globals() | {'q': q})  # here\n    return q\n"
    ),
    "an object that goes away": (
        "class Late:\n    def __del__(self):\n        torch.softmax(torch.ones(2), -1)  # here\n"
        "def f(q):\n    Late()\n    return q\n"
    ),
}


@pytest.mark.parametrize("source", RUNNING.values(), ids=RUNNING)
def test_the_line_that_runs(source: str) -> None:
    assert refused(source).line == line_of("# here", source)


THREAD = (
    "def f(q):\n    t = threading.Thread(target={}, args=({}))  # here\n"
    "    t.start()\n    t.join()\n    return q\n"
)
NAMED = {
    "the entry is torch's own": "f = functools.partial(torch.softmax, dim=-1)  # here\n",
    "the entry is a layer": "f = nn.Softmax(-1)  # here\n",
    "imported under another name": "from torch import softmax as soft  # here\n"
    "f = functools.partial(soft, dim=-1)\n",
    "imported and used": "from torch import softmax\n"
    "f = functools.partial(softmax, dim=-1)  # here\n",
    "the entry is scripted": "def soft(q):\n    return torch.softmax(q, -1)  # here\n"
    "f = torch.jit.script(soft)\n",
    "in a thread": THREAD.format("F.softmax", "q, -1"),
    "in an attribute of many lines": "f = functools.partial(\n    torch\n    .softmax,  # here\n"
    "    dim=-1,\n)\n",
    "beside a function of the same name": (
        "def softmax(q):\n    return q\ntorch.manual_seed(0), softmax(torch.ones(1))\n"
        "f = functools.partial(torch.softmax, dim=-1)  # here\n"
    ),
    "not in comments and strings": '"""softmax"""\n# torch.softmax(q, -1)\n'
    "f = functools.partial(F.softmax, dim=-1)  # here\n",
}


@pytest.mark.parametrize("source", NAMED.values(), ids=NAMED)
def test_where_no_line_of_the_file_runs_the_only_one_that_names_it(source: str) -> None:
    assert refused(source).line == line_of("# here", source)


@pytest.mark.parametrize(
    ("group", "target", "arguments"),
    [
        ("fused-attention", "F.scaled_dot_product_attention", "q[None], q[None], q[None]"),
        ("autograd", "(q.clone().requires_grad_() ** 2).sum().backward", ""),
        ("autograd", "torch.autograd.grad", "(q.requires_grad_() * q).sum(), q"),
    ],
)
def test_the_same_for_the_other_groups(group: str, target: str, arguments: str) -> None:
    source = THREAD.format(target, arguments)
    assert refused(source, group=group).line == line_of("# here", source)


UNKNOWN = {
    "two lines name it": "first = torch.softmax\nf = functools.partial(torch.softmax, dim=-1)\n",
    "none names it": "f = functools.partial(getattr(torch, 'soft' + 'max'), dim=-1)\n",
    "a string is the entry": "exec('def f(q): return q.soft' + 'max(-1)')\n",
}


@pytest.mark.parametrize("source", UNKNOWN.values(), ids=UNKNOWN)
def test_no_line_where_it_cannot_be_told(source: str) -> None:
    assert refused(source).line is None
