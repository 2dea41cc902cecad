import torch


@torch.no_grad()
def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    P, page, G, _ = k_pages.shape
    S = block_table.shape[1] * page
    table = block_table
    k = k_pages[table].transpose(1, 2).reshape(B, S, G, D).permute(0, 2, 1, 3)
    v = v_pages[table].transpose(1, 2).reshape(B, S, G, D).permute(0, 2, 1, 3)
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    s = torch.matmul(q.reshape(B, G, H // G, D).to(wide), k.to(wide).transpose(-1, -2))
    s /= D**0.5
    unused = torch.arange(S, device=q.device)[None, :] >= lengths[:, None]
    s = s.masked_fill(unused[:, None, None, :], float("-inf"))
    s = s - s.max(dim=-1, keepdim=True).values
    e = torch.exp(s)
    o = torch.matmul(e, v.to(wide)) / e.sum(dim=-1, keepdim=True)
    return o.reshape(B, H, 1, D).to(q.dtype)
