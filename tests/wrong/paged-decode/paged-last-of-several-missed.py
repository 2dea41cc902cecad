import math

import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page, H_kv = k_pages.shape[1:3]
    out = torch.zeros_like(q)
    for b in range(B):
        n = int(lengths[b])
        pages = block_table[b, : (n + page - 1) // page]
        k = k_pages[pages].reshape(-1, H_kv, D)[:max(n - 1, 1)].double()
        v = v_pages[pages].reshape(-1, H_kv, D)[:max(n - 1, 1)].double()
        k = k.transpose(0, 1).repeat_interleave(H // H_kv, dim=0)  # (H, n, D)
        v = v.transpose(0, 1).repeat_interleave(H // H_kv, dim=0)
        scores = q[b].double() @ k.mT / math.sqrt(D)  # (H, 1, n)
        out[b] = (torch.softmax(scores, dim=-1) @ v).to(q.dtype)
    return out
