import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    out = torch.empty_like(q)
    for i in range(0, T, block_size):
        qi = q[:, :, i : i + block_size].float() * D**-0.5
        n = qi.shape[2]
        m = torch.full((B, H, n, 1), -torch.inf, device=q.device)
        l = torch.zeros(B, H, n, 1, device=q.device)
        acc = torch.zeros(B, H, n, D, device=q.device)
        for j in range(0, S, block_size):
            if causal and j > S - T + i + n - 1:
                break  # this tile and all later ones lie in the future
            kj = k[:, :, j : j + block_size].float()
            vj = v[:, :, j : j + block_size].float()
            s = qi @ kj.transpose(-1, -2)
            if causal:
                rows = torch.arange(i, i + n, device=q.device)[:, None] + S - T
                cols = torch.arange(j, j + kj.shape[2], device=q.device)
                s = s.masked_fill(cols > rows, -torch.inf)
            # tile j = 0 shows every row key 0, so m is finite from then on
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - m_new)
            fix = torch.exp(m - m_new)
            l = fix * l + p.sum(-1, keepdim=True)
            acc = fix * acc + p @ vj
            m = m_new
        out[:, :, i : i + n] = (acc / l).to(q.dtype)
    return out
