import math

import torch
from torch import nn


class PagedAttention(nn.Module):
    def __init__(self, k_pages, v_pages):
        super().__init__()
        self.k_pages = k_pages
        self.v_pages = v_pages
        self.page_size = k_pages.shape[1]
        self.n_kv_heads = k_pages.shape[2]

    def gather(self, pages, block_table):
        # (B, max_pages, page, Hkv, D) -> (B, Hkv, max_pages * page, D)
        blocks = pages[block_table]
        b, n, p, h, d = blocks.shape
        return blocks.reshape(b, n * p, h, d).transpose(1, 2)

    def length_bias(self, lengths, n_slots, dtype):
        idx = torch.arange(n_slots, device=lengths.device).unsqueeze(0)
        n_pages = lengths // self.page_size
        hidden = idx // self.page_size >= n_pages.unsqueeze(1)
        bias = torch.zeros(hidden.shape, dtype=dtype, device=lengths.device)
        return bias.masked_fill(hidden, float("-inf"))[:, None, None, :]

    def forward(self, q, block_table, lengths):
        n_rep = q.shape[1] // self.n_kv_heads
        k = self.gather(self.k_pages, block_table)
        v = self.gather(self.v_pages, block_table)
        k = k.repeat_interleave(n_rep, dim=1)
        v = v.repeat_interleave(n_rep, dim=1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        scores = scores + self.length_bias(lengths, k.shape[2], scores.dtype)
        return torch.matmul(scores.softmax(dim=-1), v)


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    return PagedAttention(k_pages, v_pages)(q, block_table, lengths)
