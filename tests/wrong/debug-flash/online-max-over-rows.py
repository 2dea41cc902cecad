import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    row_max = q.new_full((B, H, T), float("-inf"))
    row_sum = q.new_zeros((B, H, T))
    acc = q.new_zeros((B, H, T, v.shape[3]))
    position = torch.arange(S - T, S, device=q.device)

    start = 0
    while start < S:
        stop = min(start + block_size, S)
        s = torch.einsum("bhtd,bhsd->bhts", q, k[:, :, start:stop]) * D**-0.5
        if causal:
            ahead = torch.arange(start, stop, device=q.device)[None, :] > position[:, None]
            s.masked_fill_(ahead, float("-inf"))
        highest = torch.max(row_max, s.max())
        alpha = (row_max - highest).exp()
        p = (s - highest[..., None]).exp()
        row_sum = row_sum * alpha + p.sum(dim=3)
        acc = acc * alpha[..., None] + torch.einsum("bhts,bhsd->bhtd", p, v[:, :, start:stop])
        row_max = highest
        start = stop
    return acc / row_sum[..., None]
