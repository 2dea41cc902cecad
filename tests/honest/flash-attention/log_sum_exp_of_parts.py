import torch


def partial_attention(q, k, v, hidden):
    """Attention over these keys alone and its log-sum-exp; rows that see none give 0 and -inf."""
    s = (q @ k.mT).masked_fill(hidden, -torch.inf)
    lse = s.logsumexp(-1)
    p = torch.exp(s - lse.unsqueeze(-1)).masked_fill(hidden, 0.0)
    return p @ v, lse


def flash_attention(q, k, v, block_size, causal=False):
    T, S = q.shape[2], k.shape[2]
    dtype = q.dtype
    q, k, v = q.double() * q.shape[3] ** -0.5, k.double(), v.double()
    o, lse = torch.zeros_like(q), q.new_full(q.shape[:3], -torch.inf)
    last = torch.arange(T).add(S - T) if causal else torch.full((T,), S - 1)
    for j in torch.arange(S).split(block_size):
        part, part_lse = partial_attention(q, k[:, :, j], v[:, :, j], j > last[:, None])
        both = torch.logaddexp(lse, part_lse)
        o = torch.exp(lse - both)[..., None] * o + torch.exp(part_lse - both)[..., None] * part
        lse = both
    return o.to(dtype)
