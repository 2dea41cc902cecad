import math

import torch


def build_mask(lengths, size):
    """(B, 1, T, T), True where query (row) may look at key (column)."""
    pos = torch.arange(size, device=lengths.device)
    causal = pos.view(1, size) <= pos.view(size, 1)
    real = pos.view(1, size) >= (size - lengths).view(-1, 1)
    return causal[None, None] & real[:, None, None, :]


def masked_softmax(scores, mask):
    scores = scores + mask.to(scores.dtype)
    return torch.softmax(scores, dim=-1)


def left_padded_attention(q, k, v, lengths):
    mask = build_mask(lengths, q.shape[2])
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[3])
    return torch.einsum("bhqk,bhkd->bhqd", masked_softmax(scores, mask), v)
