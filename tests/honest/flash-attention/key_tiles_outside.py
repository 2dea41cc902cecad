import torch


def flash_attention(q, k, v, block_size, causal=False):
    """Key tiles in the outer loop; output, normaliser and maximum live in whole-length buffers.

    The output buffer is kept normalised after every step.
    """
    T, S, D = q.size(2), k.size(2), q.size(3)
    wide = torch.promote_types(q.dtype, torch.float32)
    O = torch.zeros(q.shape, dtype=wide)
    L = torch.zeros(q.shape[:3], dtype=wide)
    M = torch.full(q.shape[:3], torch.finfo(wide).min, dtype=wide)
    for lo in range(0, S, block_size):
        hi = min(lo + block_size, S)
        K, V = k[:, :, lo:hi].to(wide), v[:, :, lo:hi].to(wide)
        for top in range(0, T, block_size):
            end = min(top + block_size, T)
            if causal and lo > end - 1 + S - T:
                continue
            tile = torch.einsum("bhid,bhjd->bhij", q[:, :, top:end].to(wide), K) / D**0.5
            if causal:
                see = torch.arange(lo, hi) <= torch.arange(top, end)[:, None] + S - T
                tile = tile.masked_fill(~see, -torch.inf)
            m, l, o = M[:, :, top:end], L[:, :, top:end], O[:, :, top:end]
            m_new = torch.maximum(m, tile.amax(-1))
            p = torch.exp(tile - m_new[..., None])
            old = l * torch.exp(m - m_new)
            l_new = old + p.sum(-1)
            o.copy_((old[..., None] * o + torch.einsum("bhij,bhjd->bhid", p, V)) / l_new[..., None])
            l.copy_(l_new)
            m.copy_(m_new)
    return O.to(q.dtype)
