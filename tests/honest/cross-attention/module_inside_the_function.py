import torch
import torch.nn.functional as F
from torch import nn


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    class CrossAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = n_heads
            self.dk = x.size(-1) // n_heads

        def split(self, y):
            return y.unflatten(-1, (self.h, self.dk)).movedim(-2, 1)

        def forward(self, tgt, mem, keep=None):
            q = self.split(F.linear(tgt, w_q)) * self.dk**-0.5
            k, v = (self.split(F.linear(mem, w)) for w in (w_k, w_v))
            att = q @ k.mT
            if keep is not None:
                att = torch.where(keep, att, -torch.inf)
            att = F.softmax(att, dim=-1)
            return F.linear((att @ v).movedim(1, -2).flatten(-2), w_o)

    keep = None
    if context_lengths is not None:
        keep = torch.arange(context.size(1), device=context.device).lt(context_lengths[:, None])
        keep = keep[:, None, None]
    return CrossAttention()(x, context, keep)
