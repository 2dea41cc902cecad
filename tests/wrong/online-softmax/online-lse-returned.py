from dataclasses import dataclass

import torch


@dataclass
class State:
    m: torch.Tensor
    l: torch.Tensor

    def update(self, block):
        m = torch.maximum(self.m, block.amax(dim=-1))
        added = torch.exp(block - m[..., None]).sum(dim=-1)
        return State(m, self.l * torch.exp(self.m - m) + added)


def online_softmax(x, block_size):
    m = torch.full(x.shape[:-1], -torch.inf, dtype=torch.float64)
    state = State(m, torch.zeros_like(m))
    for start in range(0, x.shape[-1], block_size):
        state = state.update(x[..., start : start + block_size].double())
    return state.m.to(x.dtype), (state.m + state.l.log()).to(x.dtype)
