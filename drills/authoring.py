"""What `drill bank` does: the checks of form, the proof of power, new question files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drills.errors import GRADER_ERROR, UNUSABLE, USAGE, DrillError
from questions.kinds import CODE_KINDS

if TYPE_CHECKING:
    from grader.session import Grader
    from questions.findings import Finding

HONEST_WANTED = 3  # right answers that a question's grader must be tried with
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SCAFFOLDS = Path(__file__).parent / "scaffolds"


def default_bank() -> Path:
    """The folder of the bank that comes with drill."""
    import questions

    return Path(questions.__path__[0])


def findings(root: Path) -> list[Finding]:
    """What is wrong with the form of a bank, or of one question file."""
    from questions import content

    return content.check(root)


def honest_answers(root: Path, question_id: str) -> dict[str, bytes]:
    """Right answers written in different styles, by style.

    From `honest/<id>/` in the bank (so in the wheel), else from the checkout's tests/honest.
    """
    bank = default_bank()
    for folder in (root / "honest", bank / "honest", bank.parent / "tests" / "honest"):
        files = sorted((folder / question_id).glob("*.py"))
        if files:
            return {file.stem: file.read_bytes() for file in files}
    return {}


def prove(
    root: Path, seeds: Iterable[int], say: Callable[[str], None] | None
) -> list[dict[str, Any]]:
    """The proof of power for each question below `root`; `say` hears how far it is.

    Each is {"question", "ok", "honest", "findings", "table"}; the last two of a question without
    code are what `grader.answers.proof` found, and empty.
    """
    from grader.answers import proof as answers
    from grader.session import Grader
    from questions.loader import load_bank

    bank = [question.model_dump(mode="json") for question in load_bank(root).values()]
    seeds, mistakes = list(seeds), _mistakes(root)
    proofs = []
    with Grader() as grader:
        for number, question in enumerate(bank, 1):
            if say is not None:
                say(f"proving {question['id']} ({number} of {len(bank)})")
            if question["kind"] in CODE_KINDS:
                proofs.append(_prove_code(grader, root, question, seeds, mistakes))
            else:
                found = answers.findings(question)
                proofs.append(_proof(question, found, honest=0, table=[]))
    return proofs


def _proof(
    question: dict[str, Any], findings: list[str], honest: int, table: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "question": question["id"],
        "ok": not findings,
        "honest": honest,
        "findings": findings,
        "table": table,
    }


def _prove_code(
    grader: Grader,
    root: Path,
    question: dict[str, Any],
    seeds: list[int],
    mistakes: dict[str, dict[str, str]],
) -> dict[str, Any]:
    from grader.session import GraderFault

    honest = honest_answers(root, question["id"])
    try:
        proof = grader.prove(question, honest, seeds, mistakes)
    except GraderFault as fault:
        raise DrillError(f"{question['id']}: {fault}\n{fault.log}", GRADER_ERROR) from fault
    findings = [str(finding) for finding in proof["findings"]]
    if len(honest) < HONEST_WANTED:
        findings.append(
            f"{len(honest)} right answers to try it with: write {HONEST_WANTED} or more, "
            f"in different styles, to honest/{question['id']}/"
        )
    return _proof(question, findings, len(honest), proof["table"])


def _mistakes(root: Path) -> dict[str, dict[str, str]]:
    """The texts of the mistakes: the bank's own, for a file those of the bank it lies in."""
    from questions.loader import load_mistakes

    own = root if root.is_dir() else root.absolute().parent.parent
    return load_mistakes(default_bank()) | load_mistakes(own)


def print_proofs(proofs: list[dict[str, Any]]) -> None:
    """A line a question, then every finding."""
    from rich.text import Text

    from drills.screen import console as look
    from drills.screen.listing import table
    from drills.screen.markdown import wrap
    from drills.screen.safe import safe

    rows = []
    for proof in proofs:
        weakest = proof["table"][0] if proof["table"] else None
        rows.append(
            (
                Text("proved", style=look.GOOD) if proof["ok"] else Text("open", style=look.BAD),
                Text(proof["question"], style=look.BOLD),
                f"{len(proof['table'])}" if weakest else "",
                f"{weakest['margin']:,.3g}" if weakest else "",
                str(weakest["answer"]) if weakest else "",
                f"{proof['honest']}" if weakest else "",
            )
        )
    out = look.out()
    columns = ("", "question", "wrong", "margin", "closest", "right")
    for line in table(columns, rows, out.width, right=(2, 3, 5), shrink=4):
        out.print(line)
    for proof in proofs:
        for finding in proof["findings"]:
            for line in wrap(Text(safe(f"{proof['question']}: {finding}")), out.width, "· "):
                out.print(line)
    proved = sum(proof["ok"] for proof in proofs)
    look.say(f"{proved} of {len(proofs)} questions proved.")


def scaffold(bank: Path, question_id: str, kind: str, topic: str) -> Path:
    """Write the file of a new question; raises DrillError where the name is not one, or taken."""
    for word in (question_id, topic):
        if not _SLUG.fullmatch(word) or len(word) > 60:
            raise DrillError(
                f'"{word}" is no name: use small letters, digits and single hyphens.', USAGE
            )
    from questions.loader import MISTAKES, question_files

    if topic == MISTAKES:
        raise DrillError(f'"{topic}" holds the texts of mistakes: choose another topic.', USAGE)
    taken = [path for path in question_files(bank) if path.stem == question_id]
    if taken:
        raise DrillError(f"{question_id} is there already: {taken[0]}", USAGE)
    path = bank / topic / f"{question_id}.yaml"
    text = (_SCAFFOLDS / f"{kind}.yaml").read_text(encoding="utf-8")
    head = (_SCAFFOLDS / "common.yaml").read_text(encoding="utf-8")
    text = (head + text).replace("QUESTION_ID", question_id).replace("TOPIC", topic)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("KIND", kind))
    except OSError as error:
        raise DrillError(f"{path} cannot be written ({error.strerror}).", UNUSABLE) from error
    return path
