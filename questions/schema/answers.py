"""Questions answered without a code file: compute, derive, trace, choice, explain."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from questions.schema.common import (
    DottedName,
    Line,
    Name,
    Pattern,
    Prose,
    QuestionBase,
    Slug,
    Strict,
)

Number = int | float


class ModelDraw(Strict):
    """Parameters taken together from one published model configuration, drawn by the seed."""

    names: tuple[Line, ...] = Field(min_length=1, description="rows of reference/models.tsv")
    take: dict[Name, Name] = Field(description="parameter: column")


class Parameters(Strict):
    """`{name}` in the prompt and texts stands for a parameter's value."""

    model: ModelDraw | None = None
    draw: dict[Name, tuple[Number, ...]] = Field(default_factory=dict)


class ComputeQuestion(QuestionBase):
    """A number with a unit, for fresh parameters each time."""

    kind: Literal["compute"]
    parameters: Parameters
    formula: DottedName = Field(description="called with the parameters by keyword")
    unit: Literal["byte", "FLOP", "token", "FLOP/byte", "none"]
    tolerance: float = Field(0.01, ge=0, le=0.05, description="relative; 0 is exact")
    asks: Line
    working: Prose = Field(description="the sum, with {parameters} put in")
    mistakes: tuple[Slug, ...] = Field(
        min_length=1, description="functions of reference.mistakes.counting"
    )


class WrongStep(Strict):
    """A known wrong expression for a step, and what it shows."""

    id: Slug
    expression: Line
    says: Prose


class Step(Strict):
    id: Slug
    asks: Line
    target: Line
    mistakes: tuple[WrongStep, ...] = ()


class DeriveQuestion(QuestionBase):
    """A chain of expressions, one a line. Symbols are positive reals."""

    kind: Literal["derive"]
    symbols: dict[Name, Line] = Field(description="the names that may be used, and their meaning")
    steps: tuple[Step, ...] = Field(min_length=1)


class TracePart(Strict):
    id: Slug
    asks: Line
    shape: tuple[int, ...]
    step: Prose = Field(description="the step a wrong entry comes from")


class TraceMistake(Strict):
    """A known wrong way to come by one part: a dotted function, or a constant matrix."""

    id: Slug
    part: Slug
    reference: DottedName
    says: Prose


class TraceQuestion(QuestionBase):
    """Small matrices worked by hand."""

    kind: Literal["trace"]
    parameters: Parameters = Parameters()
    reference: DottedName = Field(description="returns {part id: matrix as nested lists}")
    parts: tuple[TracePart, ...] = Field(min_length=1)
    mistakes: tuple[TraceMistake, ...] = ()
    tolerance: float = Field(0.005, gt=0, description="absolute")


class Option(Strict):
    id: Slug
    text: Prose
    correct: bool
    explanation: Prose


class ChoiceQuestion(QuestionBase):
    """Pick one option, or all that hold."""

    kind: Literal["choice"]
    several: bool = False
    options: tuple[Option, ...] = Field(min_length=2, max_length=9)


class KeyPoint(Strict):
    """A point the answer should make.

    `says`: patterns any one of which decides that it is made (regular expressions over the
    normalised text, matched within one sentence). `hints_at`: patterns that leave it to review.
    `unless`: patterns of a sentence in which nothing decides, as it may be about something else.
    """

    id: Slug
    text: Line
    says: tuple[Pattern, ...]
    hints_at: tuple[Pattern, ...] = ()
    unless: tuple[Pattern, ...] = ()
    weight: float = Field(1.0, gt=0)


class WrongClaim(Strict):
    """A claim that contradicts the facts; `says` as for a key point, `unless` cancels it."""

    id: Slug
    title: Line
    says: tuple[Pattern, ...] = Field(min_length=1)
    unless: tuple[Pattern, ...] = ()
    correction: Prose


class Form(Strict):
    sentences: int | None = None
    equations: bool = True


class ExplainQuestion(QuestionBase):
    """Prose, judged by key points and contradicted claims; the undecided goes to review."""

    kind: Literal["explain"]
    key_points: tuple[KeyPoint, ...] = Field(min_length=1)
    wrong_claims: tuple[WrongClaim, ...] = ()
    form: Form = Form()
    model_answer: Prose
