"""Drawn inputs for the tests of references, baselines and families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Args = tuple[Any, ...]


def drawing(seed: int, dtype: torch.dtype) -> Callable[..., Tensor]:
    """`draw(*shape, std=1.0)`: normal numbers of one generator, in `dtype`."""
    source = torch.Generator().manual_seed(seed)

    def draw(*shape: int, std: float = 1.0) -> Tensor:
        return (std * torch.randn(*shape, generator=source, dtype=torch.float64)).to(dtype)

    return draw
