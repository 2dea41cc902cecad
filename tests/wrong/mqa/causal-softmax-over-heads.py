import torch
import torch.nn.functional as F


def mqa(q, k, v):
    # shapes
    batch_size, n_heads, q_len, head_dim = q.shape
    kv_len = k.shape[2]

    # 1. repeat the one key/value head for every query head
    k = k.repeat(1, n_heads, 1, 1)
    v = v.repeat(1, n_heads, 1, 1)

    # 2. attention scores
    scores = torch.matmul(q, k.transpose(-2, -1))
    scores = scores / (head_dim ** 0.5)

    # 3. causal mask: the queries are the last q_len positions
    mask = torch.ones((q_len, kv_len), device=q.device, dtype=torch.bool)
    mask = torch.tril(mask, diagonal=kv_len - q_len)
    mask = mask.unsqueeze(0).unsqueeze(0)
    scores = scores.masked_fill(mask == False, float("-inf"))

    # 4. softmax and weighted sum
    attn = F.softmax(scores, dim=1)
    output = torch.matmul(attn, v)
    return output
