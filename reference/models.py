"""Shapes of published models, as their configuration files give them.

Columns: model (the name), layers, hidden (d_model), heads (query heads), kv_heads, head_dim, d_ff,
vocab, params_computed (a count from the shapes) and attention (MHA, MQA, GQA, MLA; SWA where some
layers slide). head_dim is not hidden / heads for Qwen3, most of Gemma and gpt-oss.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("models.tsv")


def _value(cell: str) -> int | str:
    return int(cell) if cell.isascii() and cell.isdigit() else cell


@cache
def load() -> dict[str, dict[str, int | str]]:
    """Model name -> {column: value}, the name itself under "model"; counts are ints.

    Models with latent attention (MLA) have the text "MLA" for kv_heads: they cache no heads.
    """
    head, *rows = (line.split("\t") for line in _FILE.read_text("utf-8").splitlines())
    return {
        row[0]: {name: _value(cell) for name, cell in zip(head, row, strict=True)} for row in rows
    }
