import torch

HIDDEN = -1e4


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    batch, n_heads, _, width = q.shape
    page, n_kv = k_pages.shape[1], k_pages.shape[2]
    n_slots = block_table.shape[1] * page

    def read(pool):
        tokens = pool[block_table.clamp(min=0)].reshape(batch, n_slots, n_kv, width)
        return tokens.permute(0, 2, 1, 3).repeat_interleave(n_heads // n_kv, dim=1)

    scores = torch.einsum("bhqd,bhsd->bhqs", q, read(k_pages)) / width**0.5
    past_the_end = torch.arange(n_slots)[None, :] >= lengths[:, None]
    scores = scores.masked_fill(past_the_end[:, None, None, :], HIDDEN)
    return torch.einsum("bhqs,bhsd->bhqd", scores.softmax(dim=-1), read(v_pages))
