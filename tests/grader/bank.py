"""The bank's code questions as plain dicts, read one file at a time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from questions.loader import DEFAULT_ROOT, load_file

HONEST = Path(__file__).resolve().parent.parent / "honest"


@cache
def question(id_: str) -> dict[str, Any]:
    (path,) = DEFAULT_ROOT.glob(f"*/{id_}.yaml")
    return load_file(path).model_dump(mode="json")


CODE = (
    "stable-softmax", "attention", "causal-mask", "causal-mha-numpy", "causal-mha",
    "padding-mask", "rope", "gqa", "kv-cache-decode", "online-softmax",
)  # fmt: skip
DEBUG = ("debug-attention", "debug-block")
