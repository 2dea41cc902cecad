import torch
import torch.nn.functional as F


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    B, T, d = x.shape
    hd = w_k.shape[0] // n_kv_heads
    qkv = F.linear(x, torch.cat([w_q, w_k, w_v]))
    qkv = qkv.view(B, T, n_heads + 2 * n_kv_heads, hd).transpose(1, 2)
    # queries and keys sit side by side, so one call turns both
    qk, v = qkv.split([n_heads + n_kv_heads, n_kv_heads], dim=1)
    inv_freq = 1.0 / (base ** (torch.arange(0, hd, 2, dtype=torch.float32) / hd))
    freqs = torch.outer(positions.float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.cos().type_as(x), emb.sin().type_as(x)
    qk = qk * cos + rotate_half(qk) * sin
    q, k = qk.split([n_heads, n_kv_heads], dim=1)

    # reshape instead of repeating: (B, H_kv, G, T, hd) against (B, H_kv, 1, T, hd)
    q = q.reshape(B, n_kv_heads, n_heads // n_kv_heads, T, hd)
    att = (q @ k.unsqueeze(2).transpose(-2, -1)) * hd**-0.5
    causal = torch.zeros(T, T, dtype=x.dtype)
    causal[torch.ones(T, T).tril() == 0] = float("-inf")
    att = F.softmax(att + causal, dim=-1, dtype=torch.float32).to(x.dtype)
    y = (att @ v.unsqueeze(2)).reshape(B, n_heads, T, hd)
    return F.linear(y.transpose(1, 2).reshape(B, T, n_heads * hd), w_o)
