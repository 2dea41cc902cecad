import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    B, H, _, D = q.shape
    n_kv, page = k_pages.shape[2], k_pages.shape[1]
    f = torch.promote_types(q.dtype, torch.float32)
    q = q.reshape(B, n_kv, -1, D)
    used = ((lengths + page - 1) // page).tolist()
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    for b in range(B):
        for n in range(n_kv):
            rows = q[b, n].to(f)
            scores = torch.empty(rows.shape[0], used[b] * page, dtype=f, device=q.device)
            for j in range(used[b]):  # pass one: keys
                torch.mm(rows, k_pages[block_table[b, j], :, n_kv - 1 - n].to(f).t(), out=scores[:, j * page : (j + 1) * page])
            scores.div_(D**0.5)
            scores[:, int(lengths[b]) :] = -torch.inf
            weights = scores.sub_(scores.amax(1, keepdim=True)).exp_()
            total = weights.sum(1, keepdim=True)
            mixed = torch.zeros_like(rows)
            for j in range(used[b]):  # pass two: values
                mixed.addmm_(weights[:, j * page : (j + 1) * page], v_pages[block_table[b, j], :, n_kv - 1 - n].to(f))
            out[b, n] = (mixed / total).to(out.dtype)
    return out.reshape(B, H, 1, D)
