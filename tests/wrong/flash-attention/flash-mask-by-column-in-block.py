import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    q_, k_, v_ = q.float(), k.float(), v.float()
    m = torch.full((B, H, T, 1), -torch.inf)
    l = torch.zeros(B, H, T, 1)
    o = torch.zeros(B, H, T, D)
    place = torch.arange(S - T, S)[:, None]  # (T, 1)
    for j in range(0, S, block_size):
        kb, vb = k_[:, :, j : j + block_size], v_[:, :, j : j + block_size]
        s = q_ @ kb.mT / math.sqrt(D)  # (B, H, T, block)
        if causal:
            s = s.masked_fill(torch.arange(kb.shape[2]) > place, -torch.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        shrink = torch.exp(m - m_new)
        l = l * shrink + p.sum(-1, keepdim=True)
        o = o * shrink + p @ vb
        m = m_new
    return (o / l).to(q.dtype)
