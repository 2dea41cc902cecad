"""Validation errors of question files in plain sentences, each at its place in the file."""

from __future__ import annotations

import re
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from questions.document import Document, Path_, label
from questions.findings import Finding
from questions.schema.code import TensorInput

_WANTED = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping (`name: value`)",
    "model_type": "must be a mapping (`key: value`)",
    "model_attributes_type": "must be a mapping (`key: value`)",
}
_DOTTED = r"^reference(\.[A-Za-z_][A-Za-z0-9_]*)+$"
_PATTERNS = {
    _DOTTED: "must be a dotted name such as reference.rope.rotate",
    r"^[a-z0-9]+(-[a-z0-9]+)*$": "may hold only a-z, 0-9 and single hyphens between them",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "must be a name of letters, digits and underscores",
    r"^[^\n]*$": "must be one line",
}
_CHOICES = {
    "at": "must be an index, null for the whole axis, or [start, stop]",
    "shape": "must be a whole number or a size such as H * D",
    "reduction": "must be a whole number or a size such as H * D",
    "value": "must be a number, true, false, null, or a size such as H * D",
    "values": "must be a number, true or false",
    "draw": "must be a number",
    "set": "must be a number, true or false",
}
"""What a key with several kinds of value takes."""


def _fields(annotation: Any, path: Path_, data: Any) -> dict[str, Any]:
    """The fields of the model that stands at `path` below `annotation`, empty if none does."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _fields(get_args(annotation)[0], path, data)
    if origin in (Union, UnionType):
        members = [m for m in get_args(annotation) if m is not NoneType]
        models = [m for m in members if isinstance(m, type) and issubclass(m, BaseModel)]
        chosen = [_member(models, data)] if len(models) > 1 else members
        for member in chosen:
            fields = _fields(member, path, data)
            if fields:
                return fields
        return {}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {name: info.annotation for name, info in annotation.model_fields.items()}
        if not path:
            return fields
        return _fields(fields.get(path[0]), path[1:], _below(data, path[0]))
    if not path or origin not in (tuple, dict):
        return {}
    arguments = get_args(annotation)
    inner = arguments[1] if origin is dict else arguments[0]
    return _fields(inner, path[1:], _below(data, path[0]))


def _below(data: Any, key: Any) -> Any:
    try:
        return data[key]
    except (KeyError, IndexError, TypeError):
        return None


def _member(models: list[type[BaseModel]], data: Any) -> type[BaseModel]:
    """The model of a union that `data` is meant as: by `kind`, or by having a `value`."""
    if isinstance(data, dict):
        for model in models:
            kind = model.model_fields.get("kind")
            if kind is not None and data.get("kind") in get_args(kind.annotation):
                return model
        for model in models:
            if ("shape" in model.model_fields) is not _is_value(data):
                return model
    return models[0]


def _locate(loc: tuple[Any, ...], data: Any) -> tuple[Path_, Path_, str | None]:
    """(path in the file, path of the innermost union there, model branch taken) of an error.

    pydantic's `loc` mixes keys of the file with the names of union members.
    """
    path: Path_ = ()
    union: Path_ | None = None
    branch = None
    here = data
    for step in loc:
        inside = (isinstance(here, dict) and step in here) or (
            isinstance(here, list) and isinstance(step, int) and step < len(here)
        )
        if inside:
            here = here[step]
            path = (*path, step)
        elif step in ("TensorInput", "ValueInput"):
            branch = step
        elif step != "[key]" and step != loc[0]:
            union = path if union is None else union
    return path, path if union is None else union, branch


def _is_value(data: dict[str, Any]) -> bool:
    """Whether an argument is declared as a plain value and not as a tensor."""
    if "value" in data:
        return "shape" not in data
    return not data.keys() & TensorInput.model_fields.keys() - {"about"}


def _wanted_branch(path: Path_, data: Any) -> str:
    for step in path:
        data = _below(data, step)
    return "ValueInput" if isinstance(data, dict) and _is_value(data) else "TensorInput"


def _input_path(path: Path_) -> Path_:
    """The path of the argument declaration (inputs.q, cases[0].inputs.q) that `path` is in."""
    if "inputs" in path[:3]:
        return path[: path.index("inputs") + 2]
    return path


def _suggestion(word: object, known: list[str]) -> str:
    near = get_close_matches(str(word), known, n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


def _listed(expected: str) -> str:
    return expected.replace("'", "`")


def _sentence(error: Any, name: str, value: Any) -> str:
    """What is wrong with `name`, whose value is `value`, and what to do."""
    kind: str = error["type"]
    context: dict[str, Any] = error.get("ctx", {})
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", context["expected"])
        return f"`{name}` must be {_listed(context['expected'])}{_suggestion(value, words)}"
    if kind == "string_pattern_mismatch":
        return f"`{name}` {_PATTERNS.get(context['pattern'], 'is not written as it must be')}"
    if kind == "string_too_short" or (kind == "string_type" and value is None):
        return f"`{name}` is empty: write its text"
    if kind == "string_too_long":
        length = len(value) if isinstance(value, str) else "more"
        return f"`{name}` has {length} characters, of at most {context['max_length']}: shorten it"
    if kind == "too_short":
        return (
            f"`{name}` has {_entries(context['actual_length'])}, "
            f"of at least {context['min_length']}: add to it"
        )
    if kind == "too_long":
        length = len(value) if isinstance(value, (list, dict)) else context["actual_length"]
        return f"`{name}` has {_entries(length)}, of at most {context['max_length']}: shorten it"
    for bound, words_ in (
        ("ge", "at least"),
        ("gt", "more than"),
        ("le", "at most"),
        ("lt", "less than"),
    ):
        if bound in context:
            return f"`{name}` must be {words_} {context[bound]:g}"
    if kind in _WANTED:
        remedy = ""
        if kind == "string_type" and isinstance(value, (int, float, bool)):
            remedy = ": put it in quotes"
        elif isinstance(value, str) and kind in ("int_type", "float_type", "bool_type"):
            remedy = ": it stands there as text"
        elif value is None:
            remedy = ": it is empty"
        elif kind in ("tuple_type", "list_type"):
            remedy = ": write [a, b], or one `- ` line an entry"
        return f"`{name}` {_WANTED[kind]}{remedy}"
    return f"`{name}` does not hold what it should: see `drill bank schema`"


def _entries(count: int) -> str:
    return "no entries" if count == 0 else f"{count} {'entry' if count == 1 else 'entries'}"


def _kind(document: Document, kinds: list[str]) -> Finding:
    listed = ", ".join(kinds)
    if "kind" not in document.data:
        return document.finding((), f"`kind` is missing: add one of {listed}")
    given = document.data["kind"]
    hint = _suggestion(given, kinds)
    shown = f"`{given}`" if isinstance(given, str) else "this"
    return document.finding(
        ("kind",), f"{shown} is no kind of question: take one of {listed}{hint}"
    )


def explain(document: Document, error: ValidationError, annotation: Any) -> list[Finding]:
    """The findings behind a validation error of `document` against `annotation`."""
    data = document.data
    findings = []
    seen = set()
    for item in error.errors(include_url=False, include_input=False):
        kind, loc = item["type"], item["loc"]
        if kind in ("union_tag_invalid", "union_tag_not_found"):
            union = get_args(get_args(annotation)[0])
            kinds = [m.model_fields["kind"].annotation for m in union]
            findings.append(_kind(document, [get_args(k)[0] for k in kinds]))
            continue
        path, union_path, branch = _locate(loc, data)
        if branch is not None and branch != _wanted_branch(_input_path(path), data):
            continue
        value = data
        for step in path:
            value = _below(value, step)
        if kind == "too_short" and len(value) >= item["ctx"]["min_length"]:
            continue  # entries that do not fit were not counted; each has its own finding
        if kind == "missing":
            missing = label((*path, loc[-1]))
            findings.append(document.finding(path, f"`{missing}` is missing: add it"))
        elif kind == "extra_forbidden":
            known = [n for n in _fields(annotation, path[:-1], data) if n != "model_config"]
            message = f"unknown key `{label(path)}`{_suggestion(path[-1], known)}"
            findings.append(document.finding(path, message, key=True))
        elif loc[-1] == "[key]":
            sentence = _sentence(item, str(path[-1]), path[-1])
            findings.append(document.finding(path, sentence, key=True))
        elif union_path != path or _is_choice(loc, path):
            if union_path in seen:
                continue
            seen.add(union_path)
            key = next((p for p in reversed(union_path) if p in _CHOICES), None)
            wanted = _CHOICES.get(str(key), "is of no kind that is taken here")
            findings.append(document.finding(union_path, f"`{label(union_path)}` {wanted}"))
        else:
            findings.append(document.finding(path, _sentence(item, label(path), value)))
    return findings


def _is_choice(loc: tuple[Any, ...], path: Path_) -> bool:
    """Whether the error names a member of a union of plain types at `path` itself."""
    last = str(loc[-1])
    at_end = not path or loc[-1] != path[-1]
    return (
        at_end and re.match(r"(int|str|float|bool|tuple|constrained|nullable)\b", last) is not None
    )
