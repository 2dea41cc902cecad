import torch
from torch import nn
from torch.nn import functional as F


class RotaryTable(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        self.register_buffer("inv_freq", base ** -(torch.arange(0, width, 2).double() / width))

    def forward(self, positions, x):
        angles = positions.to(self.inv_freq)[:, None] * self.inv_freq
        angles = torch.cat((angles, angles), -1)
        x1, x2 = x.chunk(2, -1)
        half = torch.cat((x2.neg(), x1), -1)
        return (x * angles.cos() + half * angles.sin()).type_as(x)


def latent_rope_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0):
    rank = w_uk.size(1)
    rope_dim = w_dkv.size(0) - rank
    nope_dim = w_uk.size(0) // n_heads
    rotary = RotaryTable(rope_dim, float(base)).to(x.device)
    B, T = x.shape[:2]

    compressed = F.linear(x, w_dkv)
    latent, k_pe = torch.split(compressed, [rank, rope_dim], dim=-1)
    k_pe = rotary(positions, k_pe)
    q = F.linear(x, w_q).view(B, T, n_heads, nope_dim + rope_dim).permute(0, 2, 1, 3)
    q_nope, q_pe = q.split([nope_dim, rope_dim], dim=-1)
    q_pe = rotary(positions, q_pe)
    k_nope = F.linear(latent, w_uk).view(B, T, n_heads, nope_dim).permute(0, 2, 1, 3)
    v = F.linear(latent, w_uv).view(B, T, n_heads, -1).permute(0, 2, 1, 3)

    logits = q_nope @ k_nope.mT + q_pe @ k_pe.unsqueeze(1).mT
    logits = logits.float() * (nope_dim + rope_dim) ** -0.5
    idx = torch.arange(T, device=x.device)
    logits = logits.where(idx[:, None] >= idx, float("-inf"))
    probs = F.softmax(logits, -1).to(x.dtype)
    merged = (probs @ v).permute(0, 2, 1, 3).flatten(-2)
    return F.linear(merged, w_o), torch.cat((latent, k_pe), -1)
