import torch
import math


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    batch, seq, d_model = x.shape
    head_dim = w_q.shape[0] // n_heads

    # 1. project
    q = torch.matmul(x, w_q.transpose(0, 1))
    k = torch.matmul(x, w_k.transpose(0, 1))
    v = torch.matmul(x, w_v.transpose(0, 1))

    # 2. split into heads
    q = q.reshape(batch, seq, n_heads, head_dim).permute(0, 2, 1, 3)
    k = k.reshape(batch, seq, n_kv_heads, head_dim).permute(0, 2, 1, 3)
    v = v.reshape(batch, seq, n_kv_heads, head_dim).permute(0, 2, 1, 3)

    # 3. RoPE on q and k, but not on v!
    half = head_dim // 2
    i = torch.arange(half, dtype=torch.float32)
    frequencies = base ** (-2.0 * i / head_dim)
    angles = positions.to(torch.float32).reshape(seq, 1) * frequencies.reshape(1, half)
    cos = torch.cos(angles).to(x.dtype)
    sin = torch.sin(angles).to(x.dtype)

    q_first, q_second = q[..., :half], q[..., half:]
    q = torch.cat([q_first * cos - q_second * sin, q_first * sin + q_second * cos], dim=-1)
    k_first, k_second = k[..., :half], k[..., half:]
    k = torch.cat([k_first * cos - k_second * sin, k_first * sin + k_second * cos], dim=-1)

    # 4. share the key and value heads
    group_size = n_heads // n_kv_heads
    k = k.repeat_interleave(group_size, dim=1)
    v = v.repeat_interleave(group_size, dim=1)

    # 5. scaled scores
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(head_dim)

    # 6. causal mask: by index, positions do not matter here
    mask = torch.triu(torch.ones(seq, seq, dtype=torch.bool), diagonal=1)
    scores = scores.masked_fill(mask, float("-inf"))

    # 7. softmax
    weights = torch.softmax(scores, dim=-1)

    # 8. mix the values
    mixed = torch.matmul(weights, v)

    # 9. merge and project
    merged = mixed.permute(0, 2, 1, 3).reshape(batch, seq, n_heads * head_dim)
    return torch.matmul(merged, w_o.transpose(0, 1))
