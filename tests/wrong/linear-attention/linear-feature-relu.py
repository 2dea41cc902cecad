import torch
from torch import nn


class CausalLinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def feature_map(self, x):
        return self.act(x)

    def forward(self, q, k, v):
        q = self.feature_map(q)
        k = self.feature_map(k)
        kv = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), dim=2)  # (B, H, T, D, D_v)
        k_sum = torch.cumsum(k, dim=2)
        context = torch.matmul(q.unsqueeze(-2), kv).squeeze(-2)
        normalizer = torch.sum(q * k_sum, dim=-1, keepdim=True)
        return context / normalizer


def linear_attention(q, k, v):
    out = CausalLinearAttention()(q.float(), k.float(), v.float())
    return out.to(q.dtype)
