from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Heads:
    n: int
    width: int

    @property
    def scale(self) -> float:
        return 1.0 / self.width**0.5

    def split(self, y: torch.Tensor) -> torch.Tensor:
        return torch.stack(y.split(self.width, dim=-1), dim=1)  # (B, H, L, D)

    def merge(self, y: torch.Tensor) -> torch.Tensor:
        return torch.cat(y.unbind(dim=1), dim=-1)  # (B, L, H * D)


def masked_softmax(scores: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    # finite fill, then hidden entries are put to an exact zero afterwards
    scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
    weights = torch.exp(scores - scores.max(dim=-1, keepdim=True).values.detach())
    weights = weights * visible
    return weights / weights.sum(dim=-1, keepdim=True)


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    dtype = x.dtype
    x, context, w_q, w_k, w_v, w_o = [t.float() for t in (x, context, w_q, w_k, w_v, w_o)]
    heads = Heads(n_heads, x.shape[-1] // n_heads)
    B, S = context.shape[0], context.shape[1]
    visible = torch.ones(B, S, dtype=torch.bool, device=x.device)
    if context_lengths is not None:
        for row, n in enumerate(context_lengths.tolist()):
            visible[row, n:] = False
    q, k, v = heads.split(x @ w_q.t()), heads.split(context @ w_k.t()), heads.split(context @ w_v.t())
    p = masked_softmax(q @ k.transpose(-1, -2) * heads.scale, visible[:, None, None, :])
    return (heads.merge(p @ v) @ w_o.t()).to(dtype)
