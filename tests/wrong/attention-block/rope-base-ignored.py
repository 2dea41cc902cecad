import torch
from torch import nn


class GQABlock(nn.Module):
    def __init__(self, n_heads, n_kv_heads, head_dim, base=10000.0):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, head_dim
        self.base = base

    def cos_sin(self, positions, dtype):
        pair = torch.arange(self.head_dim // 2, device=positions.device, dtype=torch.float32)
        theta = self.base ** (-2.0 * pair / self.head_dim)
        angle = positions.to(torch.float32).unsqueeze(1) * theta
        return angle.cos().to(dtype), angle.sin().to(dtype)

    def rope(self, x, cos, sin):
        x1, x2 = x.chunk(2, dim=-1)
        y1 = x1 * cos - x2 * sin
        y2 = x1 * sin + x2 * cos
        return torch.cat((y1, y2), dim=-1)

    def forward(self, x, w_q, w_k, w_v, w_o, positions):
        B, T, _ = x.shape
        q = nn.functional.linear(x, w_q).reshape(B, T, self.n_heads, self.head_dim)
        k = nn.functional.linear(x, w_k).reshape(B, T, self.n_kv_heads, self.head_dim)
        v = nn.functional.linear(x, w_v).reshape(B, T, self.n_kv_heads, self.head_dim)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        cos, sin = self.cos_sin(positions, x.dtype)
        q = self.rope(q, cos, sin)
        k = self.rope(k, cos, sin)
        n_rep = self.n_heads // self.n_kv_heads
        k = torch.repeat_interleave(k, n_rep, dim=1)
        v = torch.repeat_interleave(v, n_rep, dim=1)
        scores = (q @ k.transpose(-2, -1)) * self.head_dim**-0.5
        hidden = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        probs = scores.softmax(dim=-1)
        context = (probs @ v).transpose(1, 2).reshape(B, T, self.n_heads * self.head_dim)
        return nn.functional.linear(context, w_o)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    block = GQABlock(n_heads, n_kv_heads, w_q.shape[0] // n_heads)
    return block(x, w_q, w_k, w_v, w_o, positions)
