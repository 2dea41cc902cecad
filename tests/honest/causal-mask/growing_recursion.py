from __future__ import annotations

import torch
from torch import Tensor


def causal_mask(t: int, s: int) -> Tensor:
    """The last row sees all; the rest is the mask of one query fewer, a hidden column wider."""
    last = torch.ones(1, s, dtype=torch.bool)
    if t == 1:
        return last
    above = causal_mask(t - 1, s - 1)
    return torch.vstack([torch.hstack([above, torch.zeros(t - 1, 1, dtype=torch.bool)]), last])
