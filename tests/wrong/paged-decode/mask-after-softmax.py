import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    k = k_pages[block_table].flatten(1, 2)  # (B, N, H_kv, D)
    v = v_pages[block_table].flatten(1, 2)
    r = H // k.shape[2]
    k = k.repeat_interleave(r, 2).transpose(1, 2)
    v = v.repeat_interleave(r, 2).transpose(1, 2)
    s = q @ k.mT / D**0.5  # (B, H, 1, N)
    t = torch.arange(k.shape[2], device=q.device)
    w = torch.softmax(s, -1)
    w = w.masked_fill(t >= lengths[:, None, None, None], 0)
    return w @ v
