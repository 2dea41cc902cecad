import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    return torch.zeros_like(x)
