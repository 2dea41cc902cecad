import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.scale = n_heads**-0.5

    def split(self, y):
        B, T, d = y.shape
        return y.view(B, T, self.n_heads, d // self.n_heads).permute(0, 2, 1, 3)

    def forward(self, x, w_q, w_k, w_v, w_o):
        q, k, v = self.split(x @ w_q.T), self.split(x @ w_k.T), self.split(x @ w_v.T)
        T = x.size(1)
        causal = torch.tril(torch.ones(T, T, device=x.device)).bool()
        s = (self.scale * q @ k.mT).masked_fill(causal.logical_not(), -torch.inf)
        return (s.softmax(-1) @ v).permute(0, 2, 1, 3).flatten(2) @ w_o.T


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    return Block(n_heads)(x, w_q, w_k, w_v, w_o)
