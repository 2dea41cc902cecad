import torch
import torch.nn.functional as F


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (F.linear(x, w).view(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v))
    keep = torch.arange(T, device=x.device).view(T, 1) >= torch.arange(T, device=x.device)
    att = torch.where(keep, q @ k.mT / D**0.5, -torch.inf).softmax(dim=-1)
    out = (att @ v).reshape(B, T, d)
    return F.linear(out, w_o)
