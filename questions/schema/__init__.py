"""The shape of a question file. Importing this imports pydantic: serving does not."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from questions.schema.answers import (
    ChoiceQuestion,
    ComputeQuestion,
    DeriveQuestion,
    ExplainQuestion,
    TraceQuestion,
)
from questions.schema.code import CodeQuestion, DebugQuestion
from questions.schema.kernel import KernelQuestion

Question = Annotated[
    CodeQuestion
    | DebugQuestion
    | KernelQuestion
    | ComputeQuestion
    | DeriveQuestion
    | TraceQuestion
    | ChoiceQuestion
    | ExplainQuestion,
    Field(discriminator="kind"),
]
ADAPTER: TypeAdapter[Any] = TypeAdapter(Question)
