from __future__ import annotations

import torch

Part = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def flash_attention(q, k, v, block_size, causal=False):
    """Split the keys in two until a piece fits a block; merge on the way back."""
    T, S = q.shape[2], k.shape[2]
    scaled = q.float() / q.shape[3] ** 0.5
    reach = torch.arange(T)[:, None] + S - T if causal else torch.full((T, 1), S)
    least = torch.finfo(torch.float32).min

    def leaf(lo: int, hi: int) -> Part:
        scores = torch.einsum("bhtd,bhsd->bhts", scaled, k[:, :, lo:hi].float())
        hidden = torch.arange(lo, hi) > reach
        scores = scores.masked_fill(hidden, least)
        m = scores.amax(-1, keepdim=True)
        e = torch.exp(scores - m) * ~hidden
        return m, e.sum(-1, keepdim=True), e @ v[:, :, lo:hi].float()

    def solve(lo: int, hi: int) -> Part:
        if hi - lo <= block_size:
            return leaf(lo, hi)
        middle = (lo + hi) // 2
        (m1, l1, o1), (m2, l2, o2) = solve(lo, middle), solve(middle, hi)
        m = torch.maximum(m1, m2)
        a, b = torch.exp(m1 - m), torch.exp(m2 - m)
        return m, a * l1 + b * l2, a * o1 + b * o2

    _, l, o = solve(0, S)
    return (o / l).to(q.dtype)
