import torch


def flash_attention(q, k, v, block_size, causal=False):
    # all queries at once against one block of keys: tiles of T x block
    T, S = q.shape[-2], k.shape[-2]
    q = q / q.shape[-1] ** 0.5
    best = torch.full_like(q[..., :1], -torch.inf)
    total = torch.zeros_like(best)
    mix = torch.zeros_like(q)
    position = torch.arange(S - T, S).unsqueeze(1)
    start = 0
    for kb, vb in zip(k.split(block_size, dim=2), v.split(block_size, dim=2)):
        s = q @ kb.mT
        if causal:
            hidden = torch.arange(start, start + kb.shape[2]) > position
            s.masked_fill_(hidden, -torch.inf)
        new = torch.max(best, s.max(dim=-1, keepdim=True).values)
        e, fade = (s - new).exp(), (best - new).exp()
        total = total * fade + e.sum(-1, keepdim=True)
        mix = mix * fade + e @ vb
        best = new
        start += block_size
    return mix / total
