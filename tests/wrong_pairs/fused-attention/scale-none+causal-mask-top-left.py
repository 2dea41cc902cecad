from math import inf

import torch
from torch import einsum


def fused_attention(q, k, v, causal):
    b, h, t, d = q.shape
    h_kv, s_len = k.shape[1:3]
    q5 = q.unflatten(1, (h_kv, h // h_kv))
    outs = []
    for q_block, rows in zip(q5.split(96, dim=3), torch.arange(t, device=q.device).split(96)):
        rows = rows + 0
        state = None
        for k_block, v_block, cols in zip(
            k.split(80, dim=2), v.split(80, dim=2), torch.arange(s_len, device=q.device).split(80)
        ):
            if causal and cols[0] > rows[-1]:
                break
            kind = torch.promote_types(q.dtype, torch.float32)
            sim = einsum("bngtd,bnsd->bngts", q_block.to(kind), k_block.to(kind))
            if causal:
                sim = torch.where(cols[None, :] <= rows[:, None], sim, -inf)
            top = sim.amax(-1)
            if state is None:
                p = (sim - top[..., None]).exp()
                state = top, p.sum(-1), einsum("bngts,bnsd->bngtd", p, v_block.to(kind))
                continue
            m, l, o = state
            new = torch.maximum(m, top)
            p = (sim - new[..., None]).exp()
            fade = (m - new).exp()
            o = o * fade[..., None] + einsum("bngts,bnsd->bngtd", p, v_block.to(kind))
            state = new, l * fade + p.sum(-1), o
        _, l, o = state
        outs.append((o / l[..., None]).to(q.dtype))
    return torch.cat(outs, dim=3).flatten(1, 2)
