import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d_model = x.shape
    d_head = d_model // n_heads
    qkv = x @ torch.cat([w_q, w_k, w_v]).T
    q, k, v = qkv.reshape(B, T, 3, n_heads, d_head).permute(2, 0, 3, 1, 4)
    mask = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
    att = torch.softmax(q @ k.transpose(-1, -2) * d_model**-0.5 + mask, dim=-1)
    y = (att @ v).permute(0, 2, 1, 3).reshape(B, T, d_model)
    return y @ w_o.T
