import math

import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    # The pool as one long list of slots; tokens are looked up 100 at a time, in float64.
    batch, heads, _, dim = q.shape
    n_pages, page, kv_heads, _ = k_pages.shape
    k_slots = k_pages.reshape(n_pages * page, kv_heads, dim)
    v_slots = v_pages.reshape(n_pages * page, kv_heads, dim)
    factor = math.log2(math.e) / math.sqrt(dim)
    out = torch.zeros_like(q)
    for b in range(batch):
        x = q[b].reshape(kv_heads, heads // kv_heads, dim).double() * factor
        m = torch.full((kv_heads, heads // kv_heads, 1), -math.inf, dtype=torch.float64)
        l, o = torch.zeros_like(m), torch.zeros_like(x)
        for tokens in torch.arange(int(lengths[b])).split(100):
            slots = block_table[b].index_select(0, tokens // page) * page + tokens % page
            k = k_slots.index_select(0, slots).permute(1, 2, 0).double()
            v = v_slots.index_select(0, slots).permute(1, 0, 2).double()
            s = torch.bmm(x, k)
            top = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fade = torch.exp2(s - top), torch.exp2(m - top)
            l = l * fade + p.sum(-1, keepdim=True)
            o = torch.baddbmm(o * fade, p, v)
            m = top
        out[b] = (o / l).reshape(heads, 1, dim).to(q.dtype)
    return out
