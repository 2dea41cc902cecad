"""The few lines that make a call: what they say is what the judge tried."""

from __future__ import annotations

import pytest
import torch
from bank import CODE, DEBUG, question
from torch import Tensor

from grader.judging.cases import build
from grader.judging.program import MOST, WIDTHS, program
from grader.judging.recipe import imports, recipes, twice
from grader.judging.trial import dtypes_of


@pytest.mark.parametrize("id_", [*CODE, *DEBUG])
def test_the_lines_make_the_inputs_that_were_tried(id_: str) -> None:
    asked = question(id_)
    written = 0
    for declared in asked["cases"]:
        for dtype in dtypes_of(declared):
            case = build(asked, declared, dtype, 5)
            found = [text for texts in recipes(asked, declared, case) for text in texts]
            pair = twice(asked, declared, case)
            for text in [*found, *(pair or ())]:
                recipe = text.made()
                if recipe is None:
                    continue
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
                for model, tried in zip(case.args, recipe.case.args, strict=True):
                    if isinstance(model, Tensor):
                        assert isinstance(tried, Tensor)
                        assert (tried.shape, tried.dtype) == (model.shape, model.dtype)
                lines = recipe.lines(imports(asked, f"{id_}.py"), f"print({recipe.call})")
                if lines is not None:
                    written += 1
                    assert len(lines) <= MOST
                    assert max(map(len, lines)) <= WIDTHS[-1]
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
    assert imports(question("gqa"), filename) == f"from {module} import gqa"


@pytest.mark.parametrize(
    "id_",
    [*CODE, *DEBUG, "cached-attention", "cached-generate", "cached-gqa", "cross-attention",
     "debug-gpt", "debug-mla", "merge-attention", "paged-decode"],
)  # fmt: skip
def test_small_cases_of_every_drill_fit_three_lines(id_: str) -> None:
    asked = question(id_)
    cases = [build(asked, c, dtypes_of(c)[0], 5) for c in asked["cases"]]
    fitting = 0
    for declared, case in zip(asked["cases"], cases, strict=True):
        texts = (text for texts in recipes(asked, declared, case) for text in texts)
        source = imports(asked, f"{id_.replace('-', '_')}.py")
        fitting += any(t.lines(source, f"print({t.call}[0, 0, 0])") for t in texts)
    assert fitting >= 0.65 * len(cases)


def test_a_program_takes_names_from_torch_where_that_saves_a_line() -> None:
    source = "from gqa import gqa"
    short = ["x = torch.randn(2, 3)"]
    assert program(source, 0, short, ["print(gqa(x))"]) == (
        "import torch; from gqa import gqa; torch.manual_seed(0)",
        "x = torch.randn(2, 3)",
        "print(gqa(x))",
    )
    long = [f"{name} = torch.randn(2, 3, 4, 5, 6)" for name in "abcde"]
    assert program(source, 0, long, ["print(gqa(a, b, c, d, e))"]) == (
        "from torch import manual_seed, randn; from gqa import gqa; manual_seed(0)",
        "a = randn(2, 3, 4, 5, 6); b = randn(2, 3, 4, 5, 6); c = randn(2, 3, 4, 5, 6)",
        "d = randn(2, 3, 4, 5, 6); e = randn(2, 3, 4, 5, 6); print(gqa(a, b, c, d, e))",
    )
    assert program(source, 0, 3 * long, ["print(gqa(a, b, c, d, e))"]) is None
