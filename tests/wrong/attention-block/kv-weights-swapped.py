import math

import torch
import torch.nn.functional as F
from torch import nn


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    q_embed = q * cos + rotate_half(q) * sin
    k_embed = k * cos + rotate_half(k) * sin
    return q_embed, k_embed


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, position_ids):
        freqs = torch.outer(position_ids.float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()


def repeat_kv(x, n_rep):
    b, n_kv, t, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None, :, :].expand(b, n_kv, n_rep, t, d).reshape(b, n_kv * n_rep, t, d)


class Attention(nn.Module):
    def __init__(self, n_heads, n_kv_heads, head_dim, base):
        super().__init__()
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = head_dim
        self.rotary = RotaryEmbedding(head_dim, base)

    def forward(self, x, w_q, w_k, w_v, w_o, positions):
        bsz, seq, _ = x.shape
        q = F.linear(x, w_q).view(bsz, seq, self.n_heads, self.head_dim).transpose(1, 2)
        k = F.linear(x, w_v).view(bsz, seq, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = F.linear(x, w_k).view(bsz, seq, self.n_kv_heads, self.head_dim).transpose(1, 2)

        cos, sin = self.rotary(positions)
        q, k = apply_rotary_pos_emb(q, k, cos.to(x.dtype), sin.to(x.dtype))

        k = repeat_kv(k, self.n_heads // self.n_kv_heads)
        v = repeat_kv(v, self.n_heads // self.n_kv_heads)

        attn = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        causal = torch.full((seq, seq), torch.finfo(attn.dtype).min, device=x.device, dtype=attn.dtype)
        attn = attn.masked_fill(causal.triu(1) != 0, torch.finfo(attn.dtype).min)
        attn = F.softmax(attn, dim=-1)
        y = torch.matmul(attn, v).transpose(1, 2).contiguous().view(bsz, seq, -1)
        return F.linear(y, w_o)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    layer = Attention(n_heads, n_kv_heads, w_q.size(0) // n_heads, base).to(x.device)
    return layer(x, w_q, w_k, w_v, w_o, positions)
