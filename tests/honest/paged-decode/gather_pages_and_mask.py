import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page, H_kv = k_pages.shape[1:3]
    table = block_table.clamp(min=0)
    k = k_pages[table].flatten(1, 2).transpose(1, 2)  # (B, H_kv, max_pages * page, D)
    v = v_pages[table].flatten(1, 2).transpose(1, 2)
    k = k.repeat_interleave(H // H_kv, dim=1)
    v = v.repeat_interleave(H // H_kv, dim=1)
    scores = q @ k.transpose(-1, -2) / D**0.5
    beyond = torch.arange(k.shape[2], device=q.device) >= lengths.view(B, 1, 1, 1)
    return scores.masked_fill(beyond, float("-inf")).softmax(-1) @ v
