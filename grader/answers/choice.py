"""One option, or all that hold; every option comes back with its explanation."""

from __future__ import annotations

import re
from typing import Any

from grader.answers.reading import Unreadable, plain, shown
from grader.report import Part, Report, Verdict

LETTERS = "abcdefghi"


def chosen(question: dict[str, Any], text: str) -> set[int]:
    """The positions of the options that `text` names: letters, numbers from 1, or ids.

    Raises Unreadable with one sentence.
    """
    options = question["options"]
    letters = LETTERS[: len(options)]
    names = {letter: i for i, letter in enumerate(letters)}
    names |= {str(i + 1): i for i in range(len(options))}
    names |= {option["id"]: i for i, option in enumerate(options)}
    typed = plain(text, 500).lower()
    words = re.findall(r"[^\s,;.()\[\]{}:/+&|*\"'`!?]+", typed)
    words = [w for w in words if w not in ("and", "option", "options", "answer", "only")]
    if len(words) == 1 and words[0] not in names and set(words[0]) <= set(letters):
        words = list(words[0])  # "bd" for b and d
    example = "b, d" if question["several"] else "b"
    if not words:
        raise Unreadable(f"The answer is empty: write the letter of an option, such as {example}.")
    for word in words:
        if word not in names:
            raise Unreadable(
                f"“{shown(word)}” is not an option: write a letter from a to {letters[-1]},"
                f" such as {example}."
            )
    found = {names[word] for word in words}
    if len(found) > 1 and not question["several"]:
        raise Unreadable("One option is asked for: write its letter, such as b.")
    return found


def grade(question: dict[str, Any], text: str, seed: int, mistakes: dict[str, Any]) -> Report:
    """Grade a choice. Each option is a part, `passed` where it was judged rightly."""
    options = question["options"]
    right = {i for i, option in enumerate(options) if option["correct"]}

    def report(verdict: Verdict, score: float, summary: str, parts: tuple[Part, ...]) -> Report:
        return Report(
            question=question["id"],
            kind="choice",
            verdict=verdict,
            score=score,
            seed=seed,
            summary=summary,
            parts=parts,
            revision=question.get("revision", 1),
        )

    try:
        picked = chosen(question, text)
    except Unreadable as error:
        return report("invalid", 0.0, str(error), ())
    parts = tuple(
        Part(
            option["id"],
            "passed" if (i in picked) == option["correct"] else "wrong_answer",
            option["explanation"].strip(),
            option["text"].strip(),
            "chosen" if i in picked else "not chosen",
        )
        for i, option in enumerate(options)
    )
    listed = ", ".join(LETTERS[i] for i in sorted(right))
    if picked == right:
        return report("passed", 1.0, "Right.", parts)
    if picked < right:
        missing = len(right - picked)
        summary = f"Right so far, but {missing} more hold{'s' if missing == 1 else ''}: {listed}."
        return report("partial", len(picked) / len(right), summary, parts)
    verb = "holds" if len(right) == 1 else "hold"
    return report("wrong_answer", 0.0, f"Not quite: {listed} {verb}.", parts)
