import torch

PAGES_A_SPLIT = 2


def partial(rows, k, v, hidden):
    s = torch.einsum("bngd,bsnd->bngs", rows, k).masked_fill(hidden, -torch.inf)
    m = s.amax(-1)
    p = torch.exp(s - torch.where(m == -torch.inf, 0.0, m)[..., None])
    l = p.sum(-1)
    o = torch.einsum("bngs,bsnd->bngd", p, v)
    return m, l, o


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    """Splits over logical pages: maximum, sum and undivided output each, then one merge."""
    B, H, _, D = q.shape
    page, n_kv = k_pages.shape[1:3]
    kind = torch.promote_types(q.dtype, torch.float32)
    rows = q.squeeze(2).unflatten(1, (n_kv, H // n_kv)).to(kind) * D**-0.5
    parts = []
    for first, table in enumerate(block_table.split(PAGES_A_SPLIT, dim=1)):
        table = table.clamp_min(0)
        keys = k_pages[table].flatten(1, 2).to(kind)
        values = v_pages[table].flatten(1, 2).to(kind)
        token = first * PAGES_A_SPLIT * page + torch.arange(keys.shape[1], device=q.device)
        hidden = (token[None] >= lengths[:, None])[:, None, None]
        parts.append(partial(rows, keys, values, hidden))
    m, l, o = (torch.stack(x, dim=-1) for x in zip(*parts))
    seen = (l > 0).to(l)
    out = (o / l.clamp(min=1e-9)[..., None, :]).sum(-1) / seen.sum(-1)[..., None]
    return out.reshape(B, H, 1, D).to(q.dtype)
