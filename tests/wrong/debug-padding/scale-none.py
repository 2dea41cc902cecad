import torch
from torch import nn


class LeftPadded(nn.Module):
    def __init__(self, lengths, size):
        super().__init__()
        index = torch.arange(size, device=lengths.device)
        pad = index[None, :] < size - lengths[:, None]
        ahead = torch.ones(size, size, dtype=torch.bool, device=lengths.device).triu(1)
        self.register_buffer("hide", pad[:, None, None, :] | ahead)

    def forward(self, q, k, v):
        s = torch.matmul(q.float(), k.float().mT) if q.dtype == torch.bfloat16 else q @ k.mT
        s = s.masked_fill(self.hide, torch.finfo(s.dtype).min)
        p = nn.functional.softmax(s, dim=-1)
        p = p * (~self.hide.all(dim=-1, keepdim=True))
        return torch.matmul(p.to(q.dtype), v)


def left_padded_attention(q, k, v, lengths):
    return LeftPadded(lengths, q.size(-2))(q, k, v)
