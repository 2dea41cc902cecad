import torch


def _merge(a, b):
    """Two partial results (out, logsumexp) over disjoint keys -> one."""
    if a is None:
        return b
    lse = torch.logaddexp(a[1], b[1])
    out = a[0] * torch.exp(a[1] - lse)[..., None] + b[0] * torch.exp(b[1] - lse)[..., None]
    return out, lse


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    page, H_kv = k_pages.size(1), k_pages.size(2)
    kv_of = torch.div(torch.arange(H, device=q.device), H // H_kv, rounding_mode="floor")
    rows = []
    for query, table, length in zip(q[:, :, 0].double(), block_table, lengths.tolist()):
        part = None
        for j in range((length + page - 1) // page):
            n = min(page, length - j * page)
            k = k_pages[table[j], :n].double()[:, kv_of].transpose(0, 1)  # (H, n, D)
            v = v_pages[table[j], :n].double()[:, kv_of].transpose(0, 1)
            s = torch.bmm(k, query.unsqueeze(-1)).squeeze(-1) * D**-0.5  # (H, n)
            lse = s.logsumexp(-1)
            part = _merge(part, (torch.bmm((s - lse[:, None]).exp().unsqueeze(1), v).squeeze(1), lse))
        rows.append(part[0])
    return torch.stack(rows).unsqueeze(2).to(q.dtype)
