import torch


def one_head(q, k, v, block, causal):
    """q (T, D), k and v (S, D), all float32."""
    T, D = q.shape
    S = k.shape[0]
    out = torch.empty_like(q)
    for i in range(0, T, block):
        qi = q[i : i + block]
        n = qi.shape[0]
        m = torch.full((n,), -torch.inf, device=q.device)
        l = torch.zeros(n, device=q.device)
        o = torch.zeros(n, D, device=q.device)
        for j in range(0, S, block):
            kj, vj = k[j : j + block], v[j : j + block]
            s = qi @ kj.T / D**0.5
            if causal:
                rows = torch.arange(i, i + n, device=q.device) + S - T
                cols = torch.arange(j, j + kj.shape[0], device=q.device)
                s = s.masked_fill(cols[None] < rows[:, None], torch.finfo(s.dtype).min)
            m_new = torch.maximum(m, s.amax(1))
            p = torch.exp(s - m_new[:, None])
            fix = torch.exp(m - m_new)
            l = l * fix + p.sum(1)
            o = o * fix[:, None] + p @ vj
            m = m_new
        out[i : i + n] = o / l[:, None]
    return out


def flash_attention(q, k, v, block_size, causal=False):
    out = torch.empty_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            head = one_head(q[b, h].float(), k[b, h].float(), v[b, h].float(), block_size, causal)
            out[b, h] = head.to(q.dtype)
    return out
