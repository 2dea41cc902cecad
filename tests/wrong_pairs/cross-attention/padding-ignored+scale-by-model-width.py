import math

import torch


class CrossAttention:
    def __init__(self, w_q, w_k, w_v, w_o, n_heads):
        self.w_q, self.w_k, self.w_v, self.w_o = w_q, w_k, w_v, w_o
        self.n_heads = n_heads

    def split(self, t, w):
        return (t @ w.T).unflatten(-1, (self.n_heads, -1)).movedim(2, 1)

    def __call__(self, x, context, lengths):
        q = self.split(x, self.w_q)
        k = self.split(context, self.w_k)
        v = self.split(context, self.w_v)
        logits = q @ k.mT / math.sqrt(x.shape[-1])
        mixed = logits.softmax(dim=-1) @ v
        return mixed.movedim(1, 2).flatten(2) @ self.w_o.T


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    return CrossAttention(w_q, w_k, w_v, w_o, n_heads)(x, context, context_lengths)
