import torch

HIDE = -10000.0


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    q, k, v = (
        torch.nn.functional.linear(x, w).reshape(B, T, n_heads, D).swapaxes(1, 2)
        for w in (w_q, w_k, w_v)
    )
    s = torch.matmul(q, k.swapaxes(2, 3)) / D**0.5
    s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), HIDE)
    y = torch.matmul(torch.softmax(s, -1), v).swapaxes(1, 2).reshape(B, T, d)
    return torch.nn.functional.linear(y, w_o)
