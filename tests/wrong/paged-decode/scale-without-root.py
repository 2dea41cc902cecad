import torch
import torch.nn.functional as F


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    bs, nh, _, hd = q.shape
    num_pages, page_size, nkv, _ = k_pages.shape
    k_pool = k_pages.reshape(num_pages * page_size, nkv, hd)
    v_pool = v_pages.reshape(num_pages * page_size, nkv, hd)

    max_len = int(lengths.max())
    t = torch.arange(max_len, device=q.device)
    live = t < lengths.view(-1, 1)  # (B, L)
    slots = block_table[:, t // page_size] * page_size + t % page_size
    slots = slots.masked_fill(~live, 0)

    k = k_pool[slots].permute(0, 2, 1, 3)  # (B, Hkv, L, hd)
    v = v_pool[slots].permute(0, 2, 1, 3)
    rep = nh // nkv
    k = torch.repeat_interleave(k, rep, dim=1)
    v = torch.repeat_interleave(v, rep, dim=1)

    logits = (q * k).sum(-1) / hd  # (B, nh, L)
    logits = logits.masked_fill(~live[:, None, :], float("-inf"))
    w = F.softmax(logits, dim=-1)
    return (w.unsqueeze(-1) * v).sum(dim=2, keepdim=True)
