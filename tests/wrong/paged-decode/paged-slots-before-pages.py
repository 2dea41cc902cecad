import torch


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    batch_size, num_heads, one, head_dim = q.shape
    num_physical_pages, page_size, num_kv_heads, _ = k_pages.shape
    max_pages = block_table.shape[1]
    max_tokens = max_pages * page_size

    # compute in double precision, go back at the end
    queries = q.double()

    # fetch the pages of every sequence
    gathered_keys = k_pages[block_table].double()
    gathered_values = v_pages[block_table].double()

    # put the pages of a sequence one after another
    gathered_keys = gathered_keys.transpose(1, 2).reshape(batch_size, max_tokens, num_kv_heads, head_dim)
    gathered_values = gathered_values.transpose(1, 2).reshape(batch_size, max_tokens, num_kv_heads, head_dim)

    # heads in front of tokens
    gathered_keys = gathered_keys.permute(0, 2, 1, 3)
    gathered_values = gathered_values.permute(0, 2, 1, 3)

    # which tokens exist
    token_index = torch.arange(max_tokens, device=q.device)
    exists = token_index.unsqueeze(0) < lengths.unsqueeze(1)

    result = torch.zeros(batch_size, num_heads, 1, head_dim, dtype=torch.float64, device=q.device)
    heads_per_kv_head = num_heads // num_kv_heads
    for head in range(num_heads):
        kv_head = head // heads_per_kv_head
        head_query = queries[:, head]
        head_keys = gathered_keys[:, kv_head]
        head_values = gathered_values[:, kv_head]
        scores = torch.bmm(head_query, head_keys.transpose(1, 2))
        scores = scores / torch.sqrt(torch.tensor(float(head_dim), dtype=torch.float64))
        scores = scores.masked_fill(~exists.unsqueeze(1), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        result[:, head] = torch.bmm(weights, head_values)
    return result.to(q.dtype)
