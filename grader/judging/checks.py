"""The checks of a code question, made of what a trial saw. Facts here, words in feedback/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from grader.feedback.words import clean, count, say
from grader.isolation.calls import Outcome
from grader.judging.answers import Answer
from grader.judging.cases import BuiltCase
from grader.judging.compare import Difference, entry, pair
from grader.judging.locate import locate
from grader.judging.trial import Slopes, Trial, dtypes_of, key
from grader.judging.verdicts import of_outcome
from grader.report import Check, Verdict


class Checks:
    """Builds the checks in the order of the report."""

    def __init__(
        self, question: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], trial: Trial
    ) -> None:
        self.question = question
        self.cases = cases
        self.trial = trial

    def all(self) -> list[Check]:
        """Every required check, those that could not be reached as `skipped`."""
        found = [self._load(), self._shape(), self._dtype(), *self.values(), *self._gradients()]
        return [*found, self._untouched(), self._repeatable()]

    def _load(self) -> Check:
        outcome = self.trial.loaded
        verdict = of_outcome(outcome)
        message = ""
        if verdict != "passed":
            message = say("load", entry=self.question["entry"], **self._stop_facts(outcome, None))
        return Check("load", verdict, message, "the file loads", outcome.line or 0)

    def _stop_facts(self, outcome: Outcome, case: BuiltCase | None) -> dict[str, Any]:
        detail = outcome.detail
        return {
            "status": outcome.status,
            "verdict": of_outcome(outcome),
            "error": clean(outcome.error, 300).rstrip("."),
            "line": outcome.line,
            "title": case.title if case else "",
            "limit": f"{self.question['seconds']:g}",
            "detail": detail,
            "size": size_text(detail.get("limit")),
            "path": clean(str(detail.get("path", "")), 200),
            "operation": clean(str(detail.get("operation", detail.get("op", ""))), 100),
        }

    def _returned(self) -> list[Answer]:
        return [answer for answer in self.trial.answers.values() if answer.returned]

    def _shape(self) -> Check:
        title = "shapes"
        if not self._returned():
            return self._skipped("shape", title, "nothing")
        bad = next((a for a in self._returned() if not a.shapes_fit), None)
        if bad is None:
            return Check("shape", "passed", title=title)
        return Check("shape", "wrong_answer", self._shape_message(bad), title)

    def _shape_message(self, answer: Answer) -> str:
        case, headers = answer.case, answer.headers
        facts: dict[str, Any] = {
            "kind": "", "counts": False, "entry": self.question["entry"], "title": case.title,
            "sizes": sizes_text(case.sizes), "output": "", "got": "", "wanted": "",
            "wanted_kind": "NumPy array" if self.question["framework"] == "numpy" else "tensor",
        }  # fmt: skip
        odd = next((h for h in headers if h.kind not in ("tensor", "array")), None)
        if len(headers) != len(case.outputs):
            facts |= {"counts": True, "got": count(len(headers), "value"),
                      "wanted": count(len(case.outputs), "value")}  # fmt: skip
        if odd is not None and (not facts["counts"] or len(headers) == 1):
            facts |= {"kind": clean(odd.kind, 60)}
        if not facts["kind"] and not facts["counts"]:
            named = zip(case.outputs.items(), headers, strict=True)
            (name, spec), header = next(n for n in named if n[0][1].shape != n[1].shape)
            facts |= {"output": name, "got": header.shape, "wanted": spec.shape}
        return say("shape", **facts)

    def _dtype(self) -> Check:
        title = "dtypes"
        usable = [a for a in self._returned() if a.kinds_fit and a.count_fits]
        if not usable:
            return self._skipped("dtype", title, "shape" if self._returned() else "nothing")
        for answer in usable:
            if answer.dtypes_fit:
                continue
            named = zip(answer.case.outputs.items(), answer.headers, strict=True)
            (name, spec), header = next(n for n in named if n[1].dtype not in n[0][1].dtypes)
            follows = self.question["outputs"][name]["dtype"] in ("input", "any-float")
            message = say(
                "dtype" if follows else "fixed_dtype",
                output=name,
                got=clean(header.dtype, 30),
                wanted=" or ".join(spec.dtypes),
                title=answer.case.title,
            )
            return Check("dtype", "wrong_answer", message, title)
        return Check("dtype", "passed", title=title)

    def values(self) -> Iterator[Check]:
        """One check a case and dtype."""
        for declared in self.cases:
            for dtype in dtypes_of(declared):
                name = key(declared["id"], dtype)
                title = declared["title"] + ("" if dtype == "float32" else f", {dtype}")
                answer = self.trial.answers.get(name)
                yield self._value(f"values/{name}", title, declared["id"], answer)

    def _value(self, check: str, title: str, case_id: str, answer: Answer | None) -> Check:
        if answer is None:
            first = self.trial.answers.get(case_id)
            before = first is not None and not first.values_right and not self.trial.stopped
            return self._skipped(check, title, "float32" if before else self._why_not())
        if not answer.returned:
            line = answer.outcome.line or 0
            return Check(check, of_outcome(answer.outcome), self.stop(answer), title, line)
        if answer.outputs is None:
            return self._skipped(check, title, "shape")
        if answer.differences:
            return Check(check, "wrong_answer", self.difference(answer.differences[0]), title)
        return Check(check, "passed", title=title)

    def _why_not(self) -> str:
        return "stopped" if self.trial.loaded.status == "returned" else "nothing"

    def stop(self, answer: Answer) -> str:
        """What ended a call, in words."""
        outcome = answer.outcome
        if outcome.status == "exception":
            return say(
                "exception",
                error=clean(outcome.error, 300).rstrip("."),
                line=outcome.line,
                arguments=arguments_text(answer.case),
            )
        return say("stopped", **self._stop_facts(outcome, answer.case))

    def again(self, outcome: Outcome) -> str:
        """Why a file that loaded once does not load in another process."""
        return say("repeatable", how="load", **self._stop_facts(outcome, None))

    def difference(self, d: Difference) -> str:
        """How many entries are wrong, where, and the worst."""
        yours, expected = pair(d)
        return say(
            "values",
            wrong=f"{d.wrong_entries:,}",
            entries=count(d.entries, "entry"),
            one=d.wrong_entries == 1,
            outputs=len(self.question["outputs"]),
            output=d.name,
            pattern=self.pattern(d),
            nan=d.nan,
            infinite=d.infinite,
            index=entry(d.name, d.index),
            yours=yours,
            expected=expected,
            allowed=f"{d.allowed:.1g}" if d.allowed else "",
        )

    def pattern(self, d: Difference) -> str:
        return locate(d.wrong, tuple(self.question["axes"].get(d.name, ())))

    def _gradients(self) -> Iterator[Check]:
        for declared in self.cases:
            if not graded_gradients(self.question, declared):
                continue
            check, title = f"gradients/{declared['id']}", f"gradients, {declared['title']}"
            slopes = self.trial.slopes.get(declared["id"])
            answer = self.trial.answers.get(key(declared["id"], dtypes_of(declared)[0]))
            if slopes is None:
                failed = answer is not None and not answer.values_right and not self.trial.stopped
                reason = "values" if failed else "changed" if self.trial.changed else ""
                yield self._skipped(check, title, reason or self._why_not())
            elif slopes.outcome.status not in ("returned", "exception"):
                message = say("stopped", **self._stop_facts(slopes.outcome, slopes.case))
                yield Check(check, of_outcome(slopes.outcome), message, title)
            elif slopes.right:
                yield Check(check, "passed", title=title)
            else:
                yield Check(check, "wrong_answer", self._gradient_message(slopes), title)

    def _gradient_message(self, slopes: Slopes) -> str:
        worst = max(slopes.differences, key=lambda d: d.ratio, default=None)
        yours, expected = pair(worst) if worst else ("", "")
        return say(
            "gradients",
            error=clean(slopes.outcome.gradient_error or slopes.outcome.error, 300).rstrip("."),
            unreached=", ".join(slopes.unreached),
            zero=", ".join(slopes.zero),
            index=entry(worst.name, worst.index) if worst else "",
            yours=yours,
            expected=expected,
            allowed=f"{worst.allowed:.1g}" if worst else "",
        )

    def _untouched(self) -> Check:
        title = "inputs untouched"
        if not self._returned() and not self.trial.changed:
            return self._skipped("inputs-untouched", title, "nothing")
        if not self.trial.changed:
            return Check("inputs-untouched", "passed", title=title)
        case, names = self.trial.changed[0]
        message = say("untouched", names=" and ".join(f"`{n}`" for n in names), title=case.title)
        return Check("inputs-untouched", "wrong_answer", message, title)

    def _repeatable(self) -> Check:
        title = "same again"
        found = self.trial.repetition
        if found is None:
            gave = any(answer.outputs is not None for answer in self.trial.answers.values())
            return self._skipped("repeatable", title, self._why_not() if gave else "nothing")
        if not found.how:
            return Check("repeatable", "passed", title=title)
        outcome = found.outcome or Outcome("returned")
        verdict: Verdict = "wrong_answer"
        if found.how in ("stopped", "load") and outcome.status != "exception":
            verdict = of_outcome(outcome)
        facts = self._stop_facts(outcome, found.case)
        return Check("repeatable", verdict, say("repeatable", how=found.how, **facts), title)

    def _skipped(self, check: str, title: str, reason: str) -> Check:
        return Check(check, "skipped", say("skipped", reason=reason), title)


def graded_gradients(question: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Whether a case's gradients are graded; never where saturated rows make them noise."""
    wanted = set(question["gradients"]) - set(declared["omit"]) - set(declared["by_keyword"])
    return bool(wanted) and declared["gradients"] and not declared["clear_leader"]


def size_text(limit: object) -> str:
    """A limit in bytes as people write it: `4 GiB`, `64 MiB`."""
    if not isinstance(limit, int):
        return str(limit)
    return f"{limit / 2**30:g} GiB" if limit >= 2**30 else f"{limit / 2**20:g} MiB"


def sizes_text(sizes: Mapping[str, int]) -> str:
    """`B=2 T=7 d=64`."""
    return " ".join(f"{name}={size}" for name, size in sizes.items())


def and_list(names: Sequence[str]) -> str:
    """`q`, `q and k`, `q, k and v`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def arguments_text(case: BuiltCase) -> str:
    """`x (2, 7, 64), w_q, w_k and w_v (64, 64), n_heads 4, in float32`."""
    said: list[tuple[list[str], str]] = []
    dtypes = []
    for name, value in case.values.items():
        text = str(value)
        if isinstance(value, Tensor):
            text = str(tuple(value.shape))
            dtypes.append(str(value.dtype).removeprefix("torch."))
            if not value.is_floating_point():
                text += f" {dtypes.pop()}"
        if said and said[-1][1] == text and isinstance(value, Tensor):
            said[-1][0].append(name)
        else:
            said.append(([name], text))
    listed = ", ".join(f"{and_list(names)} {text}" for names, text in said)
    return listed + (f", in {dtypes[0]}" if dtypes else "")
