import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    rows = torch.arange(S - T, S)[:, None]
    best = torch.full((B, H, T), -torch.inf)
    total = torch.zeros(B, H, T)
    acc = torch.zeros(B, H, T, D)
    for keys, vals, cols in zip(
        k.float().split(block_size, dim=2),
        k.float().split(block_size, dim=2),
        torch.arange(S).split(block_size),
        strict=True,
    ):
        s = torch.einsum("bhtd,bhsd->bhts", q.float(), keys) / D ** 0.5
        if causal:
            s = s.masked_fill(cols > rows, -torch.inf)
        higher = torch.maximum(best, s.amax(-1))
        shrink = torch.exp(best - higher)
        e = torch.exp(s - higher.unsqueeze(-1))
        total = total * shrink + e.sum(-1)
        acc = acc * shrink.unsqueeze(-1) + torch.einsum("bhts,bhsd->bhtd", e, vals)
        best = higher
    return (acc / total.unsqueeze(-1)).to(q.dtype)
