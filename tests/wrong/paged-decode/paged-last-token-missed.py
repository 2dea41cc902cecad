import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    n_seq, n_heads, _, dim = q.shape
    page, n_kv = k_pages.shape[1], k_pages.shape[2]
    max_pages = block_table.shape[1]
    n_slots = max_pages * page

    table = block_table.clamp(min=0)  # unused entries are hidden below anyway
    keys = k_pages.index_select(0, table.reshape(-1)).view(n_seq, n_slots, n_kv, dim)
    vals = v_pages.index_select(0, table.reshape(-1)).view(n_seq, n_slots, n_kv, dim)

    qg = q.view(n_seq, n_kv, n_heads // n_kv, dim)
    scores = torch.einsum("bkgd,bskd->bkgs", qg.float(), keys.float()) * dim**-0.5
    valid = torch.arange(n_slots, device=q.device)[None, :] < lengths[:, None] - 1
    scores = scores.masked_fill(~valid[:, None, None, :], float("-inf"))
    probs = scores.softmax(dim=-1)
    out = torch.einsum("bkgs,bskd->bkgd", probs, vals.float())
    return out.reshape(n_seq, n_heads, 1, dim).to(q.dtype)
