import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page = k_pages.shape[1]
    rows = []
    for b in range(B):
        L = int(lengths[b])
        k_rows, v_rows = [], []
        for t in range(L):
            physical = int(block_table[b, t // page])
            slot = t % page
            k_rows.append(k_pages[physical, slot, 0])
            v_rows.append(v_pages[physical, slot, 0])
        k = torch.stack(k_rows)  # (L, D)
        v = torch.stack(v_rows)
        att = torch.softmax((q[b] @ k.T) * (1.0 / D**0.5), dim=-1)
        rows.append(att @ v)
    return torch.stack(rows)
