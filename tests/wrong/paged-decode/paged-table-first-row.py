import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page_size, Hkv = k_pages.shape[1:3]
    G = H // Hkv
    out = torch.zeros(B, Hkv, G, D, dtype=torch.float32, device=q.device)
    table = block_table[0]
    for b in range(B):
        n = lengths[b].item()
        qb = q[b, :, 0].float().view(Hkv, G, D) / D**0.5
        m = torch.full((Hkv, G, 1), -torch.inf, device=q.device)
        l = torch.zeros(Hkv, G, 1, device=q.device)
        acc = torch.zeros(Hkv, G, D, device=q.device)
        for j in range(-(-n // page_size)):
            idx = table[j]
            filled = min(page_size, n - j * page_size)
            kj = k_pages[idx, :filled].float().transpose(0, 1)  # (Hkv, filled, D)
            vj = v_pages[idx, :filled].float().transpose(0, 1)
            s = qb @ kj.transpose(1, 2)
            m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))
            p = torch.exp(s - m_new)
            scale = torch.exp(m - m_new)
            l = l * scale + p.sum(dim=-1, keepdim=True)
            acc = acc * scale + p @ vj
            m = m_new
        out[b] = acc / l
    return out.view(B, H, 1, D).to(q.dtype)
