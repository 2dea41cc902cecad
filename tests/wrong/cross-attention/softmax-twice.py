import torch
from torch import nn
from torch.nn import functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = d_model // n_heads
        self.scale = self.head_dim**-0.5

    def split(self, t):
        b, n, _ = t.shape
        return t.view(b, n, self.n_heads, self.head_dim).transpose(1, 2)

    def merge(self, t):
        b, _, n, _ = t.shape
        return t.transpose(1, 2).contiguous().view(b, n, -1)

    def forward(self, x, context, w_q, w_k, w_v, w_o, key_mask=None):
        q = self.split(F.linear(x, w_q))
        k = self.split(F.linear(context, w_k))
        v = self.split(F.linear(context, w_v))
        attn = (q @ k.mT) * self.scale
        if key_mask is not None:
            attn = attn.masked_fill(~key_mask[:, None, None, :], float("-inf"))
        attn = F.softmax(attn, dim=-1)
        out = self.merge(attn.softmax(dim=-1) @ v)
        return F.linear(out, w_o)


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    layer = CrossAttention(x.shape[-1], n_heads)
    key_mask = None
    if context_lengths is not None:
        key_mask = torch.arange(context.shape[1], device=x.device) < context_lengths.view(-1, 1)
    return layer(x, context, w_q, w_k, w_v, w_o, key_mask)
