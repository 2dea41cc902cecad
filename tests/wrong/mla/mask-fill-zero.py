import torch
from torch import nn
from torch.nn.functional import linear


class LatentAttention(nn.Module):
    def __init__(self, n_heads, qk_dim, v_dim):
        super().__init__()
        self.n_heads = n_heads
        self.qk_dim = qk_dim
        self.v_dim = v_dim
        self.scale = qk_dim**-0.5

    def to_heads(self, t, width):
        b, n, _ = t.shape
        return t.reshape(b, n, self.n_heads, width).transpose(1, 2)

    def forward(self, x, w_q, w_dkv, w_uk, w_uv, w_o):
        latent = linear(x, w_dkv)
        q = self.to_heads(linear(x, w_q), self.qk_dim)
        k = self.to_heads(linear(latent, w_uk), self.qk_dim)
        v = self.to_heads(linear(latent, w_uv), self.v_dim)
        scores = (q @ k.mT) * self.scale
        scores = self.mask(scores)
        y = scores.softmax(dim=-1) @ v
        y = y.transpose(1, 2).flatten(2)
        return linear(y, w_o), latent

    def mask(self, scores):
        n = scores.shape[-1]
        hidden = torch.ones(n, n, dtype=torch.bool, device=scores.device).triu(1)
        return scores.masked_fill(hidden, 1e-9)


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    attn = LatentAttention(n_heads, w_uk.shape[0] // n_heads, w_uv.shape[0] // n_heads)
    return attn(x, w_q, w_dkv, w_uk, w_uv, w_o)
