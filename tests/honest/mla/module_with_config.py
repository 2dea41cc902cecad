from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn


@dataclass
class Config:
    n_heads: int
    key_width: int
    value_width: int
    rank: int


class Result(NamedTuple):
    out: Tensor
    latent: Tensor


class LatentAttention(nn.Module):
    def __init__(self, config: Config, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.config = config
        self.weights = weights

    def forward(self, x: Tensor) -> Result:
        c, w = self.config, self.weights
        n, t, _ = x.shape
        latent = x @ w["down"].mT
        # keys and values in one up-projection, cut apart afterwards
        up = latent @ torch.cat((w["up_k"], w["up_v"]), 0).mT
        k, v = up.split((c.n_heads * c.key_width, c.n_heads * c.value_width), dim=-1)
        q = (x @ w["q"].mT).reshape(n, t, c.n_heads, c.key_width).swapaxes(1, 2)
        k = k.reshape(n, t, c.n_heads, c.key_width).swapaxes(1, 2)
        v = v.reshape(n, t, c.n_heads, c.value_width).swapaxes(1, 2)
        s = q.matmul(k.mT).mul(c.key_width**-0.5)
        keep = torch.tril(torch.ones(t, t, device=x.device)).bool()
        s = s.masked_fill(~keep, torch.finfo(s.dtype).min)
        e = torch.exp(s - s.amax(-1, keepdim=True)).masked_fill(~keep, 0.0)
        p = e / e.sum(-1, keepdim=True)
        return Result(p.matmul(v).swapaxes(1, 2).reshape(n, t, -1) @ w["o"].mT, latent)


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    names = ("q", "down", "up_k", "up_v", "o")
    weights = {n: w.float() for n, w in zip(names, (w_q, w_dkv, w_uk, w_uv, w_o))}
    config = Config(n_heads, w_q.shape[0] // n_heads, w_uv.shape[0] // n_heads, w_dkv.shape[0])
    out, latent = LatentAttention(config, weights)(x.float())
    return Result(out.to(x.dtype), latent.to(x.dtype))
