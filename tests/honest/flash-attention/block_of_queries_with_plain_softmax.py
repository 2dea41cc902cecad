import torch


def flash_attention(q, k, v, block_size, causal=False):
    """One block of queries against all keys: nothing is larger than block x S."""
    T, S, D = q.shape[2], k.shape[2], q.shape[3]
    pieces = []
    for i in range(0, T, block_size):
        block = q[:, :, i : i + block_size]
        scores = block @ k.transpose(2, 3) / D**0.5
        if causal:
            n = block.shape[2]
            seen = torch.ones(n, S, dtype=torch.bool).tril(S - T + i)
            scores = scores.masked_fill(~seen, float("-inf"))
        pieces.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(pieces, dim=2)
