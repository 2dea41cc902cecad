"""What every lab is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.labs.subject import Submission
from grader.labs.timing import UNIT


@dataclass(frozen=True)
class Setting:
    """`quick`: small sizes and few repetitions, to try a lab out. `subject` is the learner's file,
    None for the reference."""

    seed: int
    quick: bool
    progress: Callable[[float, str], None]
    subject: Submission | None = None

    def generator(self, more: int = 0) -> torch.Generator:
        """Random numbers that hang on the seed alone."""
        return torch.Generator().manual_seed((self.seed + more) % 2**63)

    @property
    def rounds(self) -> int:
        """How often each thing is timed."""
        return 3 if self.quick else 9

    @property
    def unit(self) -> float:
        """Seconds that one repetition takes at least: in a process of its own more, since there the
        first call of each finds cold caches."""
        unit = UNIT / 10 if self.quick else UNIT
        return unit if self.subject is None else 5 * unit


def draw(generator: torch.Generator, *shape: int) -> Tensor:
    """Standard normal numbers in float32."""
    return torch.randn(shape, generator=generator)
