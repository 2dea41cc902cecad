"""The table of published shapes."""

from __future__ import annotations

import subprocess
import sys

from reference import models


def test_rows_hold_the_name_and_numbers() -> None:
    table = models.load()
    assert len(table) >= 50
    assert table["Llama-3-8B"] == {
        "model": "Llama-3-8B", "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8,
        "head_dim": 128, "d_ff": 14336, "vocab": 128256, "params_computed": 8030261248,
        "attention": "GQA",
    }  # fmt: skip


def test_only_latent_attention_has_no_number_of_kv_heads() -> None:
    for row in models.load().values():
        assert isinstance(row["kv_heads"], int) is (row["attention"] != "MLA")
        assert isinstance(row["layers"], int)


def test_query_heads_divide_evenly_among_kv_heads() -> None:
    for row in models.load().values():
        if isinstance(row["kv_heads"], int):
            assert isinstance(row["heads"], int)
            assert row["heads"] % row["kv_heads"] == 0


def test_counting_and_models_load_nothing_heavy() -> None:
    code = (
        "import sys, reference.counting, reference.models, reference.by_hand;"
        "import reference.mistakes.counting; reference.models.load();"
        "print([m for m in ('torch', 'numpy', 'yaml', 'pydantic', 'csv') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
