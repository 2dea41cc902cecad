import torch
from torch import einsum


def flash_attention(q, k, v, block_size, causal=False):
    T, S, D = q.size(-2), k.size(-2), q.size(-1)
    dt = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    pos = torch.arange(T, device=q.device).unsqueeze(-1) + (S - T)
    state = None
    for start in range(0, S, block_size):
        k_blk = k.narrow(-2, start, min(block_size, S - start))
        v_blk = v.narrow(-2, start, min(block_size, S - start))
        scores = einsum("...td,...sd->...ts", q, k_blk) * D**-1
        if causal:
            idx = start + torch.arange(k_blk.size(-2), device=q.device)
            scores = torch.where(idx <= pos, scores, -torch.inf)
        top = scores.amax(dim=-1)
        if state is None:
            m = top
            p = (scores - m[..., None]).exp()
            state = m, p.sum(-1), einsum("...ts,...sd->...td", p, v_blk)
            continue
        m_old, l, o = state
        m = torch.maximum(m_old, top)
        factor = (m_old - m).exp()
        p = (scores - m[..., None]).exp()
        l = l * factor + p.sum(-1)
        o = o * factor[..., None] + einsum("...ts,...sd->...td", p, v_blk)
        state = m, l, o
    _, l, o = state
    return (o / l[..., None]).to(dt)
