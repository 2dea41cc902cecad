from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file of a bank in tmp_path/bank."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / "bank" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write
