import math

import torch
import torch.nn.functional as F
from torch import nn


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class OneLayerDecoder(nn.Module):
    def __init__(self, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        super().__init__()
        for name, w in dict(embed=embed, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o).items():
            self.register_buffer(name, w.float())
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = w_q.shape[0] // n_heads
        self.past_key = None
        self.past_value = None

    def split_heads(self, x, n):
        return x.view(x.shape[0], n, self.head_dim).permute(1, 0, 2)

    def rotary(self, x, position_ids):
        inv_freq = 1.0 / 10000.0 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim)
        freqs = position_ids.float()[:, None] * inv_freq.to(x.device)
        emb = torch.cat((freqs, freqs), dim=-1)
        return x * emb.cos() + rotate_half(x) * emb.sin()

    def attention(self, x, position_ids):
        q = self.split_heads(F.linear(x, self.w_q), self.n_heads)
        k = self.split_heads(F.linear(x, self.w_k), self.n_kv_heads)
        v = self.split_heads(F.linear(x, self.w_v), self.n_kv_heads)
        q = self.rotary(q, position_ids)

        if self.past_key is not None:
            k = torch.cat([self.past_key, k], dim=1)
            v = torch.cat([self.past_value, v], dim=1)
        self.past_key, self.past_value = k, v

        n_rep = self.n_heads // self.n_kv_heads
        k = k.repeat_interleave(n_rep, dim=0)
        v = v.repeat_interleave(n_rep, dim=0)
        scores = q @ k.transpose(1, 2) / math.sqrt(self.head_dim)
        t, s = scores.shape[-2:]
        mask = torch.ones(t, s, dtype=torch.bool, device=x.device).tril(s - t)
        scores = scores.masked_fill(~mask, float("-inf"))
        y = scores.softmax(dim=-1) @ v
        y = y.permute(1, 0, 2).reshape(t, -1)
        return F.linear(y, self.w_o)

    def forward(self, ids, position_ids):
        x = self.embed[ids]
        h = x + self.attention(x, position_ids)
        return F.linear(h, self.embed)


@torch.no_grad()
def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    model = OneLayerDecoder(embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    device = prompt.device
    ids = prompt
    position_ids = torch.arange(len(prompt), device=device)
    new_tokens = []
    while len(new_tokens) < n_new:
        logits = model(ids, position_ids)
        next_token = logits[-1].argmax()
        new_tokens.append(next_token)
        ids = next_token.view(1)
        position_ids = position_ids[-1:] + 1
    return torch.stack(new_tokens)
