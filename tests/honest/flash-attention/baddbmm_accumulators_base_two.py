import math

import torch

LOG2E = 1 / math.log(2)


@torch.no_grad()
def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    inner = torch.float64 if q.dtype is torch.float64 else torch.float32
    Q, K, V = (x.reshape(B * H, -1, D).to(inner) for x in (q, k, v))
    out = Q.new_empty(B * H, T, D)
    for i in range(0, T, block_size):
        rows = Q[:, i : i + block_size]
        n = rows.shape[1]
        # keys past the last row of the tile are never read
        stop = S - T + i + n if causal else S
        acc = Q.new_zeros(B * H, n, D)
        l = Q.new_zeros(B * H, n, 1)
        m = Q.new_full((B * H, n, 1), -torch.inf)
        for j in range(0, stop, block_size):
            columns = slice(j, min(j + block_size, stop))
            width = columns.stop - j
            s = Q.new_zeros(1, n, width)
            if causal:
                s = s.masked_fill(torch.ones(n, width).triu(S - T + i - j + 1).bool(), -torch.inf)
            s = torch.baddbmm(
                s.expand(B * H, n, width), rows, K[:, columns].mT, alpha=LOG2E / math.sqrt(D)
            )
            m_old, m = m, torch.maximum(m, s.amax(2, keepdim=True))
            p = torch.exp2(s.sub_(m))
            fade = torch.exp2(m_old - m)
            l.mul_(fade).add_(p.sum(2, keepdim=True))
            acc.mul_(fade).baddbmm_(p, V[:, columns])
        out[:, i : i + n] = acc.div_(l)
    return out.view(B, H, T, D).to(q.dtype)
