"""The few lines that make a call: what they say is what the judge tried."""

from __future__ import annotations

import pytest
import torch
from bank import CODE, DEBUG, question
from torch import Tensor

from grader.judging.cases import build
from grader.judging.recipe import MOST, WIDEST, imports, recipes, twice
from grader.judging.trial import dtypes_of


@pytest.mark.parametrize("id_", [*CODE, *DEBUG])
def test_the_lines_make_the_inputs_that_were_tried(id_: str) -> None:
    asked = question(id_)
    written = 0
    for declared in asked["cases"]:
        for dtype in dtypes_of(declared):
            case = build(asked, declared, dtype, 5)
            found = list(recipes(asked, declared, case))
            pair = twice(asked, declared, case)
            for recipe in [*found, *(pair[:1] if pair else ())]:
                torch.manual_seed(recipe.seed)
                names: dict[str, object] = {"torch": torch, asked["entry"]: lambda *a, **k: (a, k)}
                exec("; ".join(recipe.setup), names)
                args, keywords = eval(recipe.call, names)
                for made, tried in zip(
                    [*args, *keywords.values()],
                    [*recipe.case.args, *recipe.case.kwargs.values()],
                    strict=True,
                ):
                    if isinstance(tried, Tensor):
                        given = torch.as_tensor(made)
                        assert given.dtype == tried.dtype
                        assert torch.equal(given, tried)
                    else:
                        assert made == tried
                lines = recipe.lines(imports(asked, f"{id_}.py"), f"print({recipe.call})")
                if lines is not None:
                    written += 1
                    assert len(lines) <= MOST
                    assert max(map(len, lines)) <= WIDEST
    assert written >= len(asked["cases"]) // 2


@pytest.mark.parametrize(
    ("filename", "module"),
    [
        ("mine.py", "mine"),
        ("work/gqa_2.py", "gqa_2"),
        ("my-gqa.py", "gqa"),
        ("class.py", "gqa"),
        ("<stdin>", "gqa"),
    ],
)
def test_the_function_comes_from_the_file_where_python_can_import_it(
    filename: str, module: str
) -> None:
    assert imports(question("gqa"), filename) == f"import torch; from {module} import gqa"
