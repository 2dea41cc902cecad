import math

import torch
from torch import nn


class HalfRope(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        self.half = width // 2
        steps = torch.arange(0, width, 2, dtype=torch.float64)
        self.freq = float(base) ** (-steps / width)

    def forward(self, x, positions):
        theta = positions.double()[:, None] * self.freq.to(x.device)
        a, b = x[..., : self.half].double(), x[..., self.half :].double()
        cos, sin = theta.cos(), theta.sin()
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class Latent(nn.Module):
    def __init__(self, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, base):
        super().__init__()
        self.w_q, self.w_dkv, self.w_uk, self.w_uv, self.w_o = w_q, w_dkv, w_uk, w_uv, w_o
        self.n_heads = n_heads
        self.rank = w_uk.shape[1]
        self.rotary = w_dkv.shape[0] - self.rank
        self.content = w_q.shape[0] // n_heads - self.rotary
        self.rope = HalfRope(self.rotary, base)

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, positions):
        q = self.heads(x @ self.w_q.T)
        q_turned, q_plain = q.split([self.rotary, self.content], dim=-1)
        q_turned = self.rope(q_turned, positions)

        latent, shared = (x @ self.w_dkv.T).split([self.rank, self.rotary], dim=-1)
        shared = self.rope(shared, positions)
        cache = torch.cat((latent, shared), dim=-1)

        k_plain = self.heads(latent @ self.w_uk.T)
        v = self.heads(latent @ self.w_uv.T)
        scores = q_plain @ k_plain.mT + q_turned @ shared[:, None].mT
        scores = scores / math.sqrt(self.content + self.rotary)
        n = x.shape[1]
        visible = torch.ones(n, n, dtype=torch.bool, device=x.device).tril(1)
        scores = scores.masked_fill(~visible, -math.inf)
        mixed = scores.softmax(dim=-1) @ v
        return mixed.transpose(1, 2).flatten(2) @ self.w_o.T, cache


def latent_rope_attention(
    x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0
):
    return Latent(w_q, w_dkv, w_uk, w_uv, w_o, n_heads, base)(x, positions)
