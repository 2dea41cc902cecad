import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    page, n_kv = k_pages.shape[1], k_pages.shape[2]
    out = torch.empty_like(q)
    for b in range(q.shape[0]):
        n = int(lengths[b])
        used = block_table[b, : -(-n // page)]
        keys = k_pages[used].reshape(n_kv, -1, q.shape[-1]).transpose(0, 1)[:n]
        values = v_pages[used].reshape(n_kv, -1, q.shape[-1]).transpose(0, 1)[:n]
        x = q[b, :, 0].unflatten(0, (n_kv, -1))  # (H_kv, group, D)
        if x.dtype != torch.float64:
            x, keys, values = x.float(), keys.float(), values.float()
        s = torch.einsum("ngd,snd->ngs", x, keys) * q.shape[-1] ** -0.5
        w = torch.softmax(s, dim=-1)
        out[b, :, 0] = torch.einsum("ngs,snd->ngd", w, values).flatten(0, 1).to(q.dtype)
    return out
