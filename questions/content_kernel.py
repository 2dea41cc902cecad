"""Checks of what kernel questions have beyond code questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from questions.content_code import Sized, once
from questions.document import Document
from questions.findings import Finding


def check_kernel(question: Any, document: Document) -> Iterator[Finding]:
    """The findings about the ids, sizes and tiers of one kernel question."""
    yield from _ids(question, document)
    yield from _slope(question, document, question.slope, ("slope",))
    yield from _speed(question, document)
    yield from _paths(question, document, question.paths.sizes)
    yield from _cuda(question, document)


def _ids(question: Any, document: Document) -> Iterator[Finding]:
    cases = [case.id for case in question.cases]
    support = [case.id for case in question.support]
    for i, id_ in enumerate(support):
        if id_ in cases:
            message = f"`{id_}` is a case already: each id must be its own"
            yield document.finding(("support", i, "id"), message)
    yield from once(document, ("strided",), question.strided)
    for i, id_ in enumerate(question.strided):
        if id_ not in cases:
            yield document.finding(("strided", i), f"`{id_}` is none of `cases`")
    yield from once(document, ("interpret", "cases"), question.interpret.cases)
    for i, id_ in enumerate(question.interpret.cases):
        if id_ not in (*cases, *support):
            message = f"`{id_}` is none of `cases` and `support`"
            yield document.finding(("interpret", "cases", i), message)


def _slope(
    question: Any, document: Document, slope: Any, where: tuple[str, ...]
) -> Iterator[Finding]:
    for i, name in enumerate(slope.symbols):
        if name not in slope.sizes:
            message = f"`{name}` is not among the sizes: give it one, which the lengths replace"
            yield document.finding((*where, "symbols", i), message)
    if list(slope.lengths) != sorted(set(slope.lengths)):
        yield document.finding((*where, "lengths"), "lengths go from short to long, each once")
        return
    for length in (slope.lengths[0], slope.lengths[-1]):
        sizes = {**slope.sizes, **dict.fromkeys(slope.symbols, length)}
        found = list(_sized(question, document, where, sizes, slope.inputs))
        yield from found
        if found:
            return


def _speed(question: Any, document: Document) -> Iterator[Finding]:
    speed = question.speed
    yield from _sized(question, document, ("speed",), speed.sizes, speed.inputs)
    yield from _tiers(document, ("speed", "tiers"), speed.tiers)
    yield from _tiers(document, ("cuda", "speed", "tiers"), question.cuda.speed.tiers)


def _tiers(document: Document, where: tuple[str, ...], tiers: Any) -> Iterator[Finding]:
    yield from once(document, where, [tier.name for tier in tiers], "name")
    for i, tier in enumerate(tiers):
        if (tier.times_naive is None) == (tier.within_fused is None):
            message = "a tier has exactly one of `times_naive` and `within_fused`"
            yield document.finding((*where, i), message)
    faster = [tier.times_naive for tier in tiers if tier.times_naive is not None]
    nearer = [tier.within_fused for tier in tiers if tier.within_fused is not None]
    if faster != sorted(set(faster)) or nearer != sorted(set(nearer), reverse=True):
        yield document.finding(where, "tiers go from slow to fast")


def _paths(question: Any, document: Document, base: dict[str, int]) -> Iterator[Finding]:
    paths = question.paths
    titles = [shape.title for shape in paths.shapes]
    yield from once(document, ("paths", "shapes"), titles, "title")
    for shape in paths.shapes:
        sizes, inputs = {**base, **shape.sizes}, {**paths.inputs, **shape.inputs}
        yield from _sized(question, document, ("paths",), sizes, inputs)


def _cuda(question: Any, document: Document) -> Iterator[Finding]:
    cuda = question.cuda
    yield from _slope(question, document, cuda.slope, ("cuda", "slope"))
    speed = cuda.speed
    yield from _sized(question, document, ("cuda", "speed"), speed.sizes, speed.inputs)
    for name in cuda.paths:
        if name not in question.paths.sizes:
            message = f"`{name}` is not among the sizes of `paths`"
            yield document.finding(("cuda", "paths", name), message)
            return
    if cuda.paths:
        yield from _paths(question, document, {**question.paths.sizes, **cuda.paths})


def _sized(
    question: Any, document: Document, where: tuple[str, ...], sizes: dict[str, int], inputs: Any
) -> Iterator[Finding]:
    """The findings about a call at these sizes."""
    changes = {"id": "-".join(where), "sizes": sizes, "inputs": dict(inputs), "outputs": {}}
    case = question.cases[0].model_copy(update=changes)
    yield from Sized(question, document, where, case).findings()
