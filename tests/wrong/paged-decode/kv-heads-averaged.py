import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    k = k_pages[block_table].flatten(1, 2)  # (B, N, H_kv, D)
    v = v_pages[block_table].flatten(1, 2)
    k = k.mean(2, keepdim=True).expand(-1, -1, H, -1).transpose(1, 2)
    v = v.mean(2, keepdim=True).expand(-1, -1, H, -1).transpose(1, 2)
    s = q @ k.mT / D**0.5  # (B, H, 1, N)
    t = torch.arange(k.shape[2], device=q.device)
    s = s.masked_fill(t >= lengths[:, None, None, None], -torch.inf)
    return torch.softmax(s, -1) @ v
