import torch
import torch.nn.functional as F


def apply_rotary_position(tensor, positions, base):
    """tensor is (batch, heads, tokens, head_dim), positions is (tokens,)."""
    head_dim = tensor.shape[-1]
    half = head_dim // 2
    # one frequency for each pair
    pair_index = torch.arange(half, device=tensor.device).float()
    frequencies = 1.0 / torch.pow(torch.tensor(base).float(), 2.0 * pair_index / head_dim)
    # one angle for each position and each pair
    angles = positions.float().unsqueeze(1) * frequencies.unsqueeze(0)
    cosines = torch.cos(angles).unsqueeze(0).unsqueeze(0)
    sines = torch.sin(angles).unsqueeze(0).unsqueeze(0)
    # half-split: the first half holds a, the second half holds b
    first = tensor[:, :, :, :half].float()
    second = tensor[:, :, :, half:].float()
    new_first = first * cosines - second * sines
    new_second = first * sines + second * cosines
    return torch.cat([new_first, new_second], dim=-1).to(tensor.dtype)


def cached_attention(
    x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0
):
    batch_size, num_new_tokens, d_model = x.shape
    num_past_tokens = k_cache.shape[2]
    total_tokens = num_past_tokens + num_new_tokens
    head_dim = w_q.shape[0] // n_heads

    # Step 1: project
    queries = torch.matmul(x, w_q.T)
    keys = torch.matmul(x, w_k.T)
    values = torch.matmul(x, w_v.T)

    # Step 2: split into heads
    queries = queries.reshape(batch_size, n_heads, num_new_tokens, head_dim)
    keys = keys.reshape(batch_size, n_kv_heads, num_new_tokens, head_dim)
    values = values.reshape(batch_size, n_kv_heads, num_new_tokens, head_dim)

    # Step 3: RoPE on the new tokens
    positions = torch.arange(num_new_tokens, device=x.device) + num_past_tokens
    queries = apply_rotary_position(queries, positions, base)
    keys = apply_rotary_position(keys, positions, base)

    # Step 4: update the cache
    new_k_cache = torch.cat([k_cache, keys], dim=2)
    new_v_cache = torch.cat([v_cache, values], dim=2)

    # Step 5: share the key/value heads
    queries_per_kv_head = n_heads // n_kv_heads
    all_keys = torch.repeat_interleave(new_k_cache, queries_per_kv_head, dim=1)
    all_values = torch.repeat_interleave(new_v_cache, queries_per_kv_head, dim=1)

    # Step 6: scores
    scores = torch.matmul(queries, all_keys.transpose(2, 3))
    scores = scores / (head_dim ** 0.5)

    # Step 7: causal mask
    query_index = torch.arange(num_new_tokens, device=x.device).unsqueeze(1) + num_past_tokens
    key_index = torch.arange(total_tokens, device=x.device).unsqueeze(0)
    hidden = key_index > query_index
    scores = scores.masked_fill(hidden, float("-inf"))

    # Step 8: softmax and mix
    weights = F.softmax(scores, dim=-1)
    mixed = torch.matmul(weights, all_values)

    # Step 9: merge the heads and project
    merged = mixed.transpose(1, 2).reshape(batch_size, num_new_tokens, n_heads * head_dim)
    output = torch.matmul(merged, w_o.T)
    return output, new_k_cache, new_v_cache
