import torch
from torch import nn


class FusedSoftmax(nn.Module):
    """A few rows at a time, as programs would take them."""

    def __init__(self, rows_per_program: int = 8):
        super().__init__()
        self.rows_per_program = rows_per_program

    def program(self, tile: torch.Tensor) -> torch.Tensor:
        tile = tile.double()
        tile = tile - tile.amax(-1, True)
        log_norm = tile.exp().sum(-1, keepdim=True).log()
        return tile - log_norm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        done = [self.program(tile).to(x.dtype) for tile in x.split(self.rows_per_program, dim=0)]
        return torch.cat(done)


_module = FusedSoftmax()


def fused_softmax(x: torch.Tensor) -> torch.Tensor:
    return _module(x)
