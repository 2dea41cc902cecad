"""What every kind of question has."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)]
DottedName = Annotated[
    str, StringConstraints(pattern=r"^reference(\.[A-Za-z_][A-Za-z0-9_]*)+$", max_length=120)
]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\n]*$")]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=600, pattern=r"^[^\n]*$")]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=8000)]


class Strict(BaseModel):
    """Unknown keys are errors, and a loaded question never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Revision(Strict):
    """A question's id never changes meaning: what a later revision changed, and why."""

    number: int = Field(ge=2, le=1000)
    reason: Line


class FollowUp(Strict):
    """What an interviewer asks next. Of a question's edges the first that holds is taken."""

    on: Literal["missed", "passed"] = Field(description="how the question ended")
    of: tuple[Slug, ...] = Field(
        (),
        description="taken only where one of these was the trouble: ids of mistakes, or of parts "
        "(steps, key points, options) that were not right",
    )
    ask: Slug = Field(description="the id of the question that is asked next")
    says: Line = Field(description="the interviewer's words that lead over to it")
    same_file: bool = Field(False, description="the learner's own file goes on")
    minutes: int | None = Field(
        None, ge=1, le=90, description="par time where, as a follow-up, it takes less"
    )


class QuestionBase(Strict):
    """Keys common to all kinds. `prompt`, `hints` and `explanation` are Markdown."""

    id: Slug
    title: Line
    topic: Slug
    level: int = Field(ge=1, le=4)
    minutes: int = Field(ge=1, le=90, description="par time")
    prompt: Prose
    hints: tuple[Prose, ...] = Field(min_length=3, max_length=12)
    explanation: Prose
    sources: tuple[Line, ...] = Field(min_length=1)
    companies: tuple[Line, ...] = ()
    follows: tuple[Slug, ...] = Field((), description="ids that teach what this one builds on")
    follow_ups: tuple[FollowUp, ...] = Field((), description="what is asked after it, best first")
    revisions: tuple[Revision, ...] = ()


Dtype = Literal["float32", "float64", "bfloat16", "float16"]
"""float16 is for kernel questions alone."""
