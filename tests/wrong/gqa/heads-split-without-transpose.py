import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads

    def heads(w, n):
        y = (x @ w.T).reshape(B, n, T, D)
        return y if n == n_heads else y.repeat_interleave(n_heads // n, dim=1)

    q, k, v = heads(w_q, n_heads), heads(w_k, n_kv_heads), heads(w_v, n_kv_heads)
    s = q @ k.mT / D**0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), -torch.inf)
    return (torch.softmax(s, -1) @ v).transpose(1, 2).reshape(B, T, n_heads * D) @ w_o.T
