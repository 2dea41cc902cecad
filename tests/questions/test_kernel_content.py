"""What a kernel question declares for a GPU is checked where it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from questions.content import check
from questions.loader import DEFAULT_ROOT

Put = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("paths: {B: 64}", "paths: {Z: 64}", "`Z` is not among the sizes of `paths`"),
        ("[1024, 2048, 4096, 8192]", "[2048, 1024, 4096]", "lengths go from short to long"),
        ("H_kv: 4, T: 4096, S: 4096, D: 128}", "H_kv: 4, T: 4096, S: 4096}", "`D`"),
        ("paths: {B: 64}", "paths: {B: 4096}", "make it smaller"),
    ],
)
def test_a_call_for_a_gpu_that_cannot_be_made_is_found(
    put: Put, old: str, new: str, said: str
) -> None:
    (path,) = DEFAULT_ROOT.glob("*/fused-attention.yaml")
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    where = put("kernels/fused-attention.yaml", text.replace(old, new))
    found = [finding.message for finding in check(where)]
    assert any(said in line for line in found), found
