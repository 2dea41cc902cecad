"""From the submission's bytes to its entry function."""

from __future__ import annotations

import io
import linecache
import sys
import tokenize
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import wire
from .answers import Answer

MODULE = "submission"


def load(source: bytes, entry: str, answer: Answer) -> Callable[..., Any] | None:
    """Compile and run the file as a module, and find its entry. None: `answer` says why not."""
    code = _compile(source, answer)
    if code is None:
        return None
    module = ModuleType(MODULE)  # not "__main__": a file's own try-out stays asleep
    module.__file__ = answer.filename
    sys.modules[MODULE] = module
    sys.argv = [answer.filename]
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        answer.exception(error)
        return None
    return _find(module, entry, answer)


def _compile(source: bytes, answer: Answer) -> Any:
    # A NUL byte is a ValueError in some Pythons and a SyntaxError without a line in others.
    nul = source.find(b"\0")
    if nul >= 0:
        answer.line = source.count(b"\n", 0, nul) + 1
        answer.fail("syntax", f"SyntaxError: a NUL byte in line {answer.line}")
        return None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError) as error:
        answer.line = _undecodable_line(source, error)
        answer.fail("syntax", f"SyntaxError: {error}")
        return None
    # Not splitlines: it also splits at form feeds and the like, and Python does not.
    lines = io.StringIO(text, newline=None).readlines()
    # So that tracebacks show the learner's lines; no mtime, so checkcache leaves it alone.
    linecache.cache[answer.filename] = (len(source), None, lines, answer.filename)
    try:
        return compile(source, answer.filename, "exec", dont_inherit=True)
    except (MemoryError, RecursionError):
        answer.fail("syntax", "SyntaxError: the code is nested too deeply")
    except (SyntaxError, ValueError, OverflowError) as error:
        answer.exception(error)
        answer.status = "syntax"
        if isinstance(error, SyntaxError):
            answer.text(wire.ERROR, f"{type(error).__name__}: {error.msg}")
    return None


def _undecodable_line(source: bytes, error: Exception) -> int:
    if isinstance(error, UnicodeDecodeError):
        return source.count(b"\n", 0, error.start) + 1
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as bad:
        return source.count(b"\n", 0, bad.start) + 1
    return 1  # a cookie with an unknown name; it may sit in line 2, but then line 1 is a comment


def _find(module: ModuleType, entry: str, answer: Answer) -> Callable[..., Any] | None:
    found = module.__dict__.get(entry)
    if entry not in module.__dict__:
        functions = [
            name
            for name, value in module.__dict__.items()
            if callable(value) and getattr(value, "__module__", None) == MODULE
        ]
        defined = ", ".join(f"`{name}`" for name in functions[:8]) or "no function"
        answer.fail("missing", f"the file defines no `{entry}`; it defines {defined}")
    elif isinstance(found, type) or not callable(found):
        kind = "a class" if isinstance(found, type) else f"a value of type {type(found).__name__}"
        answer.fail("not-callable", f"`{entry}` is {kind}, not a function")
    else:
        return found  # type: ignore[no-any-return]
    return None
