import math

import torch


def apply_rope(tensor, positions):
    # tensor: (num_heads, num_tokens, head_dim)
    head_dim = tensor.shape[2]
    half = head_dim // 2
    pair = torch.arange(half, dtype=torch.float32, device=tensor.device)
    frequency = 10000.0 ** (-2.0 * pair / head_dim)
    angle = positions.to(torch.float32).unsqueeze(1) * frequency.unsqueeze(0)
    cos = torch.cos(angle)
    sin = torch.sin(angle)
    first_half = tensor[:, :, :half]
    second_half = tensor[:, :, half:]
    rotated_first = first_half * cos - second_half * sin
    rotated_second = first_half * sin + second_half * cos
    return torch.cat([rotated_first, rotated_second], dim=2)


def attention(queries, keys, values, mask):
    num_heads = queries.shape[0]
    num_kv_heads = keys.shape[0]
    group_size = num_heads // num_kv_heads
    head_dim = queries.shape[2]
    outputs = []
    for head in range(num_heads):
        kv_head = head // group_size
        scores = queries[head] @ keys[kv_head].T
        scores = scores / math.sqrt(head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == False, float("-inf"))  # noqa: E712
        weights = torch.softmax(scores, dim=-1)
        outputs.append(weights @ values[kv_head])
    return torch.stack(outputs)


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    embed = embed.to(torch.float32)
    w_q = w_q.to(torch.float32)
    w_k = w_k.to(torch.float32)
    w_v = w_v.to(torch.float32)
    w_o = w_o.to(torch.float32)
    prompt_length = prompt.shape[0]
    head_dim = w_q.shape[0] // n_heads
    generated_tokens = []

    # ---- prefill: the whole prompt at once ----
    x = embed[prompt]
    queries = (x @ w_q.T).reshape(prompt_length, n_heads, head_dim).transpose(0, 1)
    keys = (x @ w_k.T).reshape(prompt_length, n_kv_heads, head_dim).transpose(0, 1)
    values = (x @ w_v.T).reshape(prompt_length, n_kv_heads, head_dim).transpose(0, 1)
    positions = torch.arange(prompt_length, device=prompt.device)
    queries = apply_rope(queries, positions)
    keys = apply_rope(keys, positions)
    causal = torch.tril(torch.ones(prompt_length, prompt_length, device=prompt.device)).bool()
    mixed = attention(queries, keys, values, causal)
    merged = mixed.transpose(0, 1).reshape(prompt_length, n_heads * head_dim)
    hidden = x + merged @ w_o.T
    logits = hidden[-1] @ embed.T
    next_token = torch.argmax(logits)

    # keep the keys and values
    key_cache = keys
    value_cache = values

    # ---- decode: one token at a time ----
    for step in range(n_new):
        generated_tokens.append(next_token)
        if step == n_new - 1:
            break
        x = embed[next_token].unsqueeze(0)
        query = (x @ w_q.T).reshape(1, n_heads, head_dim).transpose(0, 1)
        key = (x @ w_k.T).reshape(1, n_kv_heads, head_dim).transpose(0, 1)
        value = (x @ w_v.T).reshape(1, n_kv_heads, head_dim).transpose(0, 1)
        current = torch.tensor([prompt_length], device=prompt.device)
        query = apply_rope(query, current)
        key = apply_rope(key, current)
        key_cache = torch.cat([key_cache, key], dim=1)
        value_cache = torch.cat([value_cache, value], dim=1)
        mixed = attention(query, key_cache, value_cache, None)
        merged = mixed.transpose(0, 1).reshape(1, n_heads * head_dim)
        hidden = x + merged @ w_o.T
        logits = hidden[-1] @ embed.T
        next_token = torch.argmax(logits)

    return torch.stack(generated_tokens)
