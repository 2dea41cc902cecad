import math

import torch


def tokens_of_page(j, page, device):
    return j * page + torch.arange(page, device=device)


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    _, page, H_kv, _ = k_pages.shape
    acc = torch.promote_types(q.dtype, torch.float32)
    rows = q.reshape(B, H_kv, H // H_kv, D).to(acc) / math.sqrt(D)
    m = torch.zeros((B, H_kv, H // H_kv, 1), dtype=acc, device=q.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(rows)
    for j in range(block_table.shape[1]):
        number = block_table[:, j].clamp(min=0)
        k = k_pages[number].transpose(1, 2).to(acc)  # (B, H_kv, page, D)
        v = v_pages[number].transpose(1, 2).to(acc)
        s = rows @ k.transpose(2, 3)
        token = tokens_of_page(j, page, q.device)
        s = s.masked_fill(token >= lengths[:, None, None, None], -math.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new)
        fade = torch.exp(m - new)
        l = l * fade + p.sum(-1, keepdim=True)
        o = o * fade + p @ v
        m = new
    return (o / l).reshape(B, H, 1, D).to(q.dtype)
