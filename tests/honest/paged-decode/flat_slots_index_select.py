import torch


def slot_of_every_position(block_table, page, n):
    pos = torch.arange(n, device=block_table.device)
    return block_table[:, pos // page] * page + pos % page  # (B, n)


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    P, page, N, _ = k_pages.shape
    longest = int(lengths.max())
    slots = slot_of_every_position(block_table, page, longest)
    visible = torch.arange(longest, device=q.device).expand(B, -1) < lengths.unsqueeze(-1)
    slots = slots * visible  # anything unused looks at slot 0, and is hidden below
    k = k_pages.view(P * page, N, D).index_select(0, slots.flatten()).view(B, longest, N, 1, D)
    v = v_pages.view(P * page, N, D).index_select(0, slots.flatten()).view(B, longest, N, 1, D)
    qq = q.view(B, 1, N, H // N, D)
    s = (qq * k).sum(-1).div(D**0.5)  # (B, S, N, G)
    s = torch.where(visible[..., None, None], s, torch.finfo(s.dtype).min)
    w = torch.softmax(s, dim=1) * visible[..., None, None]
    return (w.unsqueeze(-1) * v).sum(1).view(B, H, 1, D)
