import torch


def flash_attention(q, k, v, block_size, causal=False):
    batch_size, num_heads, num_queries, head_dim = q.shape
    num_keys = k.shape[2]
    scale = 1.0 / (head_dim ** 0.5)

    # accumulate in float32
    q32 = q.to(torch.float32)
    k32 = k.to(torch.float32)
    v32 = v.to(torch.float32)

    num_query_blocks = (num_queries + block_size - 1) // block_size
    num_key_blocks = num_keys // block_size

    finished_blocks = []
    for query_block in range(num_query_blocks):
        query_start = query_block * block_size
        query_end = min(query_start + block_size, num_queries)
        rows = query_end - query_start
        q_block = q32[:, :, query_start:query_end, :]

        # the three running values of each row
        running_max = torch.full((batch_size, num_heads, rows, 1), float("-inf"), device=q.device)
        running_sum = torch.zeros((batch_size, num_heads, rows, 1), device=q.device)
        running_output = torch.zeros((batch_size, num_heads, rows, head_dim), device=q.device)

        for key_block in range(num_key_blocks):
            key_start = key_block * block_size
            key_end = min(key_start + block_size, num_keys)
            k_block = k32[:, :, key_start:key_end, :]
            v_block = v32[:, :, key_start:key_end, :]

            scores = torch.matmul(q_block, k_block.transpose(2, 3)) * scale
            if causal:
                query_positions = torch.arange(query_start, query_end, device=q.device)
                query_positions = query_positions + (num_keys - num_queries)
                key_positions = torch.arange(key_start, key_end, device=q.device)
                future = key_positions.unsqueeze(0) > query_positions.unsqueeze(1)
                scores = scores.masked_fill(future, float("-inf"))

            block_max = scores.max(dim=-1, keepdim=True).values
            new_max = torch.maximum(running_max, block_max)
            rescale = torch.exp(running_max - new_max)
            weights = torch.exp(scores - new_max)

            running_sum = running_sum * rescale
            running_sum = running_sum + weights.sum(dim=-1, keepdim=True)
            running_output = running_output * rescale
            running_output = running_output + torch.matmul(weights, v_block)
            running_max = new_max

        finished_blocks.append(running_output / running_sum)
    return torch.cat(finished_blocks, dim=2).to(q.dtype)
