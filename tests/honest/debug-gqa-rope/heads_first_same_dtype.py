import torch
import torch.nn.functional as F


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rope_gqa(q, k, v, positions, base=10000.0):
    dtype, (B, T, H, D) = q.dtype, q.shape
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    inv_freq = 1.0 / (base ** (torch.arange(0, D, 2, dtype=torch.float32, device=q.device) / D))
    freqs = torch.outer(positions.float(), inv_freq)
    emb = torch.cat((freqs, freqs), -1)
    cos, sin = emb.cos().to(dtype), emb.sin().to(dtype)
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    n_rep = H // k.size(1)
    k = torch.repeat_interleave(k, n_rep, dim=1)
    v = torch.repeat_interleave(v, n_rep, dim=1)
    attn = torch.matmul(q, k.transpose(2, 3)) * D**-0.5
    bias = torch.full((T, T), torch.finfo(dtype).min, dtype=dtype, device=q.device).triu(1)
    attn = F.softmax(attn + bias, dim=-1, dtype=torch.float32).to(dtype)
    return torch.matmul(attn, v).transpose(1, 2).contiguous()
