"""What people who sit a mock interview answer: rightly, or wrongly."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from grader.answers.draw import parameters
from questions.kinds import CODE_KINDS

TESTS = Path(__file__).resolve().parents[1]
Question = dict[str, Any]


def _matrix(rows: Any) -> str:
    return "; ".join(" ".join(f"{float(entry):.6f}" for entry in row) for row in rows)


def right(question: Question, seed: int) -> Any:
    """A right answer as a script by question takes it: text, or {"file": path}."""
    kind = question["kind"]
    if kind in CODE_KINDS:
        return {"file": str(sorted((TESTS / "honest" / question["id"]).glob("*.py"))[0])}
    if kind == "derive":
        return "\n".join(step["target"] for step in question["steps"])
    if kind == "choice":
        letters = "abcdefghi"
        options = zip(letters, question["options"], strict=False)
        return ", ".join(letter for letter, option in options if option["correct"])
    if kind == "explain":
        return question["model_answer"].strip().replace("\n", " ")
    dotted = question["formula"] if kind == "compute" else question["reference"]
    module, _, name = dotted.rpartition(".")
    function = getattr(import_module(module), name)
    if kind == "compute":
        return repr(function(**parameters(question, seed)))
    return "\n".join(_matrix(matrix) for matrix in function().values())


def wrong(question: Question, mistake: str = "") -> Any:
    """A readable wrong answer; of code the one with `mistake`, where that is known."""
    kind = question["kind"]
    if kind in CODE_KINDS:
        folder = TESTS / "wrong" / question["id"]
        files = sorted(folder.glob(f"{mistake or '*'}.py")) or sorted(folder.glob("*.py"))
        return {"file": str(files[0])} if files else {"skip": True}
    if kind == "derive":
        return "\n".join("0" for _ in question["steps"])
    if kind == "choice":
        letters = "abcdefghi"
        options = zip(letters, question["options"], strict=False)
        return next(letter for letter, option in options if not option["correct"])
    if kind == "explain":
        return "It is simply how everybody does it."
    if kind == "compute":
        return "1"
    return "\n".join(
        "; ".join(["0 " * part["shape"][1]] * part["shape"][0]) for part in question["parts"]
    )
