import math

import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    batch_size, n_heads, _, width = q.shape
    page_size = k_pages.shape[1]
    n_kv_heads = k_pages.shape[2]
    heads_per_kv = n_heads // n_kv_heads

    out = torch.empty_like(q)
    for b in range(batch_size):
        # collect the keys and values of this sequence
        left = int(lengths[b])
        keys = []
        values = []
        for page_number in block_table[b].tolist():
            if left <= 0:
                break
            take = min(left, page_size)
            keys.append(k_pages[page_number, 0:take])
            values.append(v_pages[page_number, 0:take])
            left = left - take
        keys = torch.cat(keys, dim=0)  # (length, n_kv_heads, width)
        values = torch.cat(values, dim=0)

        # ordinary attention of one query
        for h in range(n_heads):
            g = h // heads_per_kv
            query = q[b, h, 0]
            scores = keys[:, g, :] @ query / math.sqrt(width)
            weights = torch.softmax(scores, dim=0)
            out[b, h, 0] = weights @ values[:, g, :]
    return out
