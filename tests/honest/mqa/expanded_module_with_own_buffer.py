import torch
import torch.nn as nn


class SharedHead(nn.Module):
    def __init__(self, t, s):
        super().__init__()
        self.register_buffer("future", torch.ones(t, s, dtype=torch.bool).triu_(s - t + 1))

    def forward(self, q, k, v):
        k = k.expand(-1, q.size(1), -1, -1)
        v = v.expand(-1, q.size(1), -1, -1)
        att = torch.matmul(q * (1.0 / q.size(-1)) ** 0.5, k.transpose(2, 3))
        att.masked_fill_(self.future, float("-inf"))  # att is ours
        att = att - att.amax(dim=-1, keepdim=True).detach()
        e = att.exp()
        return torch.matmul(e, v) / e.sum(dim=-1, keepdim=True)


def mqa(q, k, v):
    return SharedHead(q.size(2), k.size(2))(q, k, v)
