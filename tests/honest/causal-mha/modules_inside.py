import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, n_heads, dtype):
        super().__init__()
        self.h = n_heads
        self.scale = (width // n_heads) ** -0.5
        for name in ("q", "k", "v", "o"):
            setattr(self, name, nn.Linear(width, width, bias=False, dtype=dtype))

    def forward(self, x):
        split = lambda y: torch.stack(y.chunk(self.h, dim=-1), dim=1)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        logits = self.scale * (q @ k.mT)
        keep = torch.tril(torch.ones_like(logits, dtype=torch.bool))
        logits = torch.where(keep, logits, torch.finfo(logits.dtype).min)
        mixed = logits.softmax(-1) @ v
        return self.o(torch.cat(mixed.unbind(1), dim=-1))


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    block = Attention(x.shape[-1], n_heads, x.dtype)
    weights = {"q.weight": w_q, "k.weight": w_k, "v.weight": w_v, "o.weight": w_o}
    return torch.func.functional_call(block, weights, (x,))
