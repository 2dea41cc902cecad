"""One case as a Python program: its inputs exactly, the call, and how far the answer is off."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.judging.cases import find
from grader.judging.oracle import Oracle
from grader.judging.trial import dtypes_of

LITERAL = 64
"""Entries up to which a tensor is written out; above, its bytes in base64."""

WIDTH = 88


def reproduce(
    question: Mapping[str, Any], seed: int, case_id: str, filename: str = "", dtype: str = ""
) -> str:
    """The program's text. It runs the file `filename`, or the one that is its argument.

    Raises ValueError for a case that the question does not have.
    """
    declared = find(question, case_id)
    oracle = Oracle(question)
    case = oracle.draw(declared, dtype or dtypes_of(declared)[0], seed)
    truth = oracle.truth(case)
    entry, default = question["entry"], filename or question["id"].replace("-", "_") + ".py"
    numpy = question["framework"] == "numpy"
    lines = [
        f'"""Case "{case.title}" of {question["id"]}, {case.dtype}, seed {seed}."""',
        "",
        "import base64",
        "import runpy",
        "import sys",
        "",
        *(["import numpy as np"] if numpy else []),
        "import torch",
        "",
        "",
        "def exact(data, dtype, shape):",
        '    raw = bytearray(base64.b64decode("".join(data.split())))',
        "    return torch.frombuffer(raw, dtype=dtype).reshape(shape)",
        "",
        "",
    ]
    for name, value in case.values.items():
        lines.append(f"{name} = {_literal(value, numpy)}")
    expected = [
        value.to(getattr(torch, case.outputs[name].dtypes[0]))
        for name, value in truth.expected.items()
    ]
    lines.append("expected = [")
    lines += [textwrap.indent(_literal(value, False), "    ") + "," for value in expected]
    lines.append("]")
    given = [name for name in case.names if name not in case.keywords]
    given += [f"{name}={name}" for name in case.keywords]
    lines += [
        "",
        f"path = sys.argv[1] if len(sys.argv) > 1 else {json.dumps(default)}",
        f'{entry} = runpy.run_path(path)["{entry}"]',
        f"returned = {entry}({', '.join(given)})",
        "returned = returned if isinstance(returned, (tuple, list)) else [returned]",
        f"for name, yours, right in zip({list(case.outputs)!r}, returned, expected):",
        "    yours = torch.as_tensor(yours)",
        '    print(f"{name}: shape {tuple(yours.shape)}, expected {tuple(right.shape)}")',
        "    if yours.shape == right.shape:",
        "        error = (yours.detach().double() - right.double()).abs()",
        '        print(f"  largest error {error.max().item():.3g}")',
        '        print("  yours", yours.detach(), "  expected", right, sep="\\n")',
        "",
    ]
    return "\n".join(lines)


def _literal(value: Any, numpy: bool) -> str:
    if not isinstance(value, Tensor):
        return repr(value)
    text = _tensor(value)
    return f"{text}.numpy()" if numpy else text


def _tensor(value: Tensor) -> str:
    dtype, shape = str(value.dtype), tuple(value.shape)
    if value.numel() <= LITERAL:
        entries = ", ".join(_number(entry, value.dtype) for entry in value.flatten().tolist())
        body = textwrap.fill(
            f"[{entries}]", WIDTH, subsequent_indent="    ", break_on_hyphens=False
        )
        return f"torch.tensor({body}, dtype={dtype}).reshape({shape})"
    raw = value.contiguous().view(torch.uint8).numpy().tobytes()
    wrapped = textwrap.fill(base64.b64encode(raw).decode(), WIDTH)
    return f'exact("""\n{wrapped}\n""", {dtype}, {shape})'


def _number(entry: float | int | bool, dtype: torch.dtype) -> str:
    """The shortest text that reads back as the same number of `dtype`."""
    if not isinstance(entry, float):
        return repr(entry)
    if entry != entry or entry in (float("inf"), float("-inf")):
        return f'float("{entry}")'
    if entry == 0:
        return repr(entry)  # the sign of -0.0 counts
    for digits in range(1, 18):
        text = f"{entry:.{digits}g}"
        if torch.tensor(float(text), dtype=dtype).item() == entry:
            return text
    return repr(entry)
