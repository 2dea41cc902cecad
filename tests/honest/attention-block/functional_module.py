import torch
from torch import nn
from torch.func import functional_call


class Rope(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        self.register_buffer("freq", base ** (-torch.arange(0, dim, 2).double() / dim))

    def forward(self, x, positions):
        angle = torch.outer(positions.to(self.freq.dtype), self.freq)
        a, b = x.tensor_split(2, dim=-1)
        turned = torch.complex(a.double(), b.double()) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat((turned.real, turned.imag), dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, d, n_heads, n_kv_heads, head_dim, base):
        super().__init__()
        self.q = nn.Linear(d, n_heads * head_dim, bias=False)
        self.k = nn.Linear(d, n_kv_heads * head_dim, bias=False)
        self.v = nn.Linear(d, n_kv_heads * head_dim, bias=False)
        self.o = nn.Linear(n_heads * head_dim, d, bias=False)
        self.rope = Rope(head_dim, base)
        self.head_dim = head_dim
        self.groups = n_heads // n_kv_heads

    def forward(self, x, positions):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for layer in (self.q, self.k, self.v)
        )
        q, k = self.rope(q, positions), self.rope(k, positions)
        k = torch.repeat_interleave(k, self.groups, dim=1)
        v = torch.repeat_interleave(v, self.groups, dim=1)
        scores = q @ k.mT / self.head_dim**0.5
        t = x.size(1)
        scores = scores.masked_fill(torch.ones(t, t).triu(1) > 0, torch.finfo(scores.dtype).min)
        out = nn.Softmax(dim=-1)(scores) @ v
        return self.o(out.transpose(1, 2).flatten(2))


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    block = Block(x.size(-1), n_heads, n_kv_heads, w_q.size(0) // n_heads, base)
    weights = {"q.weight": w_q, "k.weight": w_k, "v.weight": w_v, "o.weight": w_o}
    return functional_call(block, weights, (x, positions))
