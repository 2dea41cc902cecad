import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, w_qkv, w_o, n_heads):
        super().__init__()
        self.w_qkv, self.w_o, self.n_heads = w_qkv, w_o, n_heads

    def forward(self, x):
        B, T, d = x.shape
        D = d // self.n_heads
        qkv = F.linear(x, self.w_qkv).view(B, T, 3, self.n_heads, D)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) * D**-0.5
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        att = att.masked_fill(~mask, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, d)
        return F.linear(y, self.w_o)


class FeedForward(nn.Module):
    def __init__(self, w_up, w_down):
        super().__init__()
        self.w_up, self.w_down = w_up, w_down

    def forward(self, x):
        return F.linear(F.gelu(F.linear(x, self.w_up)), self.w_down)


class Norm(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain


class Block(nn.Module):
    def __init__(self, attention, mlp, first, second):
        super().__init__()
        self.attention, self.mlp = attention, mlp
        self.first, self.second = first, second

    def forward(self, x):
        x = x + self.attention(self.first(x))
        x = x + self.mlp(self.second(x))
        return x


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    blocks = []
    for n in range(w_qkv.shape[0]):
        attention = SelfAttention(w_qkv[0], w_o[0], n_heads)
        mlp = FeedForward(w_up[0], w_down[0])
        blocks.append(Block(attention, mlp, Norm(g_attn[0]), Norm(g_mlp[0])))
    x = F.embedding(tokens, embed) + places[torch.arange(tokens.shape[1], device=tokens.device)]
    x = nn.Sequential(*blocks)(x)
    x = Norm(g_out)(x)
    return F.linear(x, embed)
