from __future__ import annotations

import torch as th
from torch import Tensor


class GroupedAttention:
    def __init__(self, n_heads: int, n_kv_heads: int) -> None:
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads

    def split(self, y: Tensor, n: int) -> Tensor:
        return y.reshape(y.size(0), y.size(1), n, y.size(2) // n).movedim(2, 1)

    def share(self, y: Tensor) -> Tensor:
        owner = [h * self.n_kv_heads // self.n_heads for h in range(self.n_heads)]
        index = th.tensor(owner)[None, :, None, None].expand(y.size(0), -1, y.size(2), y.size(3))
        return th.gather(y, 1, index)

    def __call__(self, x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, wo: Tensor) -> Tensor:
        q = self.split(x @ wq.t(), self.n_heads)
        k, v = (self.share(self.split(x @ w.t(), self.n_kv_heads)) for w in (wk, wv))
        s = q.matmul(k.transpose(2, 3)).div(q.size(-1) ** 0.5)
        T = x.size(1)
        s = s.masked_scatter(th.ones(T, T).triu(1).bool(), th.full_like(s, -th.inf))
        s = (s - s.detach().amax(-1, keepdim=True)).exp()
        y = s.div(s.sum(-1, keepdim=True) + 1e-6).matmul(v)
        return y.movedim(1, 2).flatten(2).matmul(wo.t())


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    return GroupedAttention(n_heads, n_kv_heads)(x, w_q, w_k, w_v, w_o)
