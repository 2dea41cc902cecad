import torch
import torch.nn.functional as F


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    q, k, v = (F.linear(x, w).view(B, T, n_heads, -1).permute(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    att = (q @ k.transpose(-2, -1)) * (q.size(-1) ** -0.5)
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    att = att.masked_fill(future, torch.finfo(att.dtype).min)
    att = F.softmax(att, dim=0)
    return F.linear((att @ v).permute(0, 2, 1, 3).reshape(B, T, d), w_o)
