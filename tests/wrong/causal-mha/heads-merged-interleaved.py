import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    mask = torch.full((T, T), float("-inf")).triu(1).to(x.dtype)
    heads = []
    for h in range(n_heads):
        part = slice(h * D, (h + 1) * D)
        q, k, v = x @ w_q[part].T, x @ w_k[part].T, x @ w_v[part].T
        scores = q @ k.transpose(1, 2) / D**0.5 + mask
        heads.append(torch.softmax(scores, dim=-1) @ v)
    return torch.stack(heads, dim=-1).reshape(B, T, d) @ w_o.T
