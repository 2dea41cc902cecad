"""The judge's side of the isolation tests: runs in the judge's process, in place of a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch

from grader.isolation.calls import Call, Limits, Outcome, OutputSpec
from grader.isolation.worker_handle import Worker
from grader.report import Check, Report

Factory = Callable[..., Callable[[], Worker]]


def run(
    question: dict[str, Any], honest: dict[str, bytes], seeds: list[int], factory: Factory, *_: Any
) -> dict[str, Any]:
    """Load `honest["source"]` and make the question's calls; the outcomes as JSON."""
    worker = factory(honest["source"], question["filename"])()
    worker.limits = Limits(**question["limits"])
    with worker:
        outcomes = [worker.load()]
        outcomes += [worker.call(_call(given)) for given in question["calls"]]
    return {"outcomes": [_plain(outcome) for outcome in outcomes]}


def several(question: dict[str, Any], honest: dict[str, bytes], *rest: Any) -> dict[str, Any]:
    """The question's calls, each in a process of its own, in turn; and how many bytes of libraries
    the first of them left to the others."""
    make = rest[1](honest["source"], question["filename"])
    outcomes, sizes = [], []
    for given in question["calls"]:
        with make() as worker:
            loaded = worker.load()
            outcomes.append(worker.call(_call(given)) if loaded.status == "returned" else loaded)
            sizes.append(sum(map(len, worker.built.files.values())))
    return {"outcomes": [_plain(outcome) for outcome in outcomes], "sizes": sizes}


def _call(given: dict[str, Any]) -> Call:
    return Call(
        [_value(value) for value in given["args"]],
        {name: _value(value) for name, value in given["kwargs"].items()},
        [OutputSpec(tuple(shape), tuple(dtypes)) for shape, dtypes in given["outputs"]],
        given["gradients"],
        [_value(value) for value in given["cotangents"]],
        count=given.get("count", False),
        measure=given.get("measure", ""),
    )


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return torch.tensor(value["data"], dtype=getattr(torch, value["dtype"])).reshape(value["shape"])


def _plain(outcome: Outcome) -> dict[str, Any]:
    plain = asdict(outcome)
    for name in ("outputs", "gradients"):
        tensors = getattr(outcome, name)
        plain[name] = [None if t is None else t.double().tolist() for t in tensors]
        plain[f"{name}_dtypes"] = [None if t is None else str(t.dtype)[6:] for t in tensors]
    return plain


def hang(*_: Any, **__: Any) -> dict[str, Any]:
    """A judge that never answers."""
    while True:
        pass


def die(*_: Any, **__: Any) -> dict[str, Any]:
    """A judge that is killed in the midst of it."""
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def fail(*_: Any, **__: Any) -> dict[str, Any]:
    """A judge with a bug of its own."""
    raise ZeroDivisionError("a bug in the judge")


def large(question: dict[str, Any], *_: Any) -> dict[str, Any]:
    """A large answer to a large request."""
    return {"length": len(question["padding"]), "padding": question["padding"]}


def modules(*_: Any, **__: Any) -> dict[str, Any]:
    """What the judge has loaded."""
    import sys

    return {"modules": sorted(sys.modules)}


def careless(question: dict[str, Any], *_: Any, **__: Any) -> Report:
    """A pass although a check was skipped, or none was made."""
    checks = (Check("values", "skipped"),) if question["state"] == "skipped" else ()
    return Report("sample", "code", "passed", 1.0, 1, checks=checks)
