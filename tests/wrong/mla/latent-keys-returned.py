import math

import torch
import torch.nn.functional as F


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    bsz, seq_len, _ = x.shape
    rank = w_dkv.size(0)
    head_dim = w_q.size(0) // n_heads
    v_dim = w_uv.size(0) // n_heads

    # compress
    c_kv = F.linear(x, w_dkv)

    # expand
    q = F.linear(x, w_q).view(bsz, seq_len, n_heads, head_dim).permute(0, 2, 1, 3)
    keys = F.linear(c_kv, w_uk)
    k = keys.view(bsz, seq_len, n_heads, head_dim).permute(0, 2, 1, 3)
    v = F.linear(c_kv, w_uv).view(bsz, seq_len, n_heads, v_dim).permute(0, 2, 1, 3)
    assert c_kv.shape[-1] == rank

    # attend
    attn = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(head_dim)
    future = torch.triu(torch.ones(seq_len, seq_len, device=x.device), diagonal=1).bool()
    attn = attn.masked_fill(future, torch.finfo(attn.dtype).min)
    attn = F.softmax(attn, dim=-1)
    out = torch.matmul(attn, v)

    # merge
    out = out.transpose(1, 2).contiguous().view(bsz, seq_len, n_heads * v_dim)
    return F.linear(out, w_o), keys
