import math

import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    batch, n_heads, _, head_dim = q.shape
    page_size, n_kv_heads = k_pages.shape[1], k_pages.shape[2]
    group = n_heads // n_kv_heads
    inner = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty_like(q)
    for b in range(batch):
        left = int(lengths[b])
        queries = q[b, :, 0].to(inner)
        running_max = [None] * n_kv_heads
        running_sum = [None] * n_kv_heads
        running_out = [None] * n_kv_heads
        for number in block_table[b].tolist():
            if left <= 0:
                break
            used = min(left, page_size)
            left -= used
            for n in range(n_kv_heads):
                keys = k_pages[number, :used, n].to(inner)
                values = v_pages[number, :used, n].to(inner)
                mine = queries[n * group : (n + 1) * group]
                scores = mine @ keys.T / math.sqrt(n_heads)
                block_max = scores.max(dim=1, keepdim=True).values
                if running_max[n] is None:
                    weights = torch.exp(scores - block_max)
                    running_max[n] = block_max
                    running_sum[n] = weights.sum(dim=1, keepdim=True)
                    running_out[n] = weights @ values
                else:
                    new_max = torch.max(running_max[n], block_max)
                    shrink = torch.exp(running_max[n] - new_max)
                    weights = torch.exp(scores - new_max)
                    running_sum[n] = running_sum[n] * shrink + weights.sum(dim=1, keepdim=True)
                    running_out[n] = running_out[n] * shrink + weights @ values
                    running_max[n] = new_max
        for n in range(n_kv_heads):
            out[b, n * group : (n + 1) * group, 0] = (running_out[n] / running_sum[n]).to(q.dtype)
    return out
