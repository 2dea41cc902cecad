import torch
from torch import nn


class Padded(nn.Module):
    def forward(self, q, k, v, lengths):
        hide = torch.arange(k.size(2), device=k.device) >= lengths.unsqueeze(-1)
        hide = hide.unsqueeze(1).unsqueeze(1)
        att = torch.matmul(q, k.transpose(-1, -2)).masked_fill(hide, -1e15)
        return torch.matmul(att.softmax(-1).masked_fill(hide, 0), v)


def padded_attention(q, k, v, lengths):
    return Padded()(q, k, v, lengths)
