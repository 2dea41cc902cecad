import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    P, page, Hkv, _ = k_pages.shape
    rows = []
    for b in range(B):
        L = int(lengths[b])
        k_rows, v_rows = [], []
        for t in range(L):
            physical = int(block_table[b, t // page])
            slot = t % page
            k_rows.append(k_pages[physical, slot])
            v_rows.append(v_pages[physical, slot])
        k = torch.stack(k_rows, dim=1)  # (Hkv, L, D)
        v = torch.stack(v_rows, dim=1)
        k = k.repeat(H // Hkv, 1, 1)
        v = v.repeat(H // Hkv, 1, 1)
        att = torch.softmax((q[b] @ k.transpose(1, 2)) * (1.0 / D**0.5), dim=-1)
        rows.append(att @ v)
    return torch.stack(rows)
