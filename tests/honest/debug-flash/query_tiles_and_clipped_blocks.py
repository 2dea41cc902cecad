import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    out = torch.empty_like(q)
    for t0 in range(0, T, block_size):
        t1 = min(t0 + block_size, T)
        qt = q[:, :, t0:t1].float() / D**0.5
        m = torch.full((B, H, t1 - t0, 1), -torch.inf, device=q.device)
        l = torch.zeros_like(m)
        acc = torch.zeros(B, H, t1 - t0, D, device=q.device)
        seen = S - T + t1 if causal else S
        for s0 in range(0, seen, block_size):
            s1 = min(s0 + block_size, S)
            s = qt @ k[:, :, s0:s1].float().mT
            if causal:
                at = torch.arange(t0, t1, device=q.device)[:, None] + (S - T)
                s = s.masked_fill(torch.arange(s0, s1, device=q.device) > at, -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            alpha, p = (m - new).exp(), (s - new).exp()
            l = l * alpha + p.sum(-1, keepdim=True)
            acc = acc * alpha + p @ v[:, :, s0:s1].float()
            m = new
        out[:, :, t0:t1] = (acc / l).to(q.dtype)
    return out
