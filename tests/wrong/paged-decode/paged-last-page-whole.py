import math

import torch


def read_sequence(pages, table, length):
    """Lay the pages of one sequence end to end: (tokens, n_kv_heads, head_dim)."""
    page_size = pages.shape[1]
    n_used = (length + page_size - 1) // page_size
    rows = [pages[int(table[j])] for j in range(n_used)]
    return torch.cat(rows, dim=0)


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    batch, n_heads, _, head_dim = q.shape
    group = n_heads // k_pages.shape[2]
    out = torch.empty_like(q)
    for b in range(batch):
        length = int(lengths[b])
        keys = read_sequence(k_pages, block_table[b], length)
        values = read_sequence(v_pages, block_table[b], length)
        for h in range(n_heads):
            kv = h // group
            scores = keys[:, kv] @ q[b, h, 0] / math.sqrt(head_dim)
            weights = torch.softmax(scores, dim=0)
            out[b, h, 0] = weights @ values[:, kv]
    return out
