import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    X = x.double()
    q, k, v = (
        (X @ w.double().T).reshape(B, T, n_heads, D).transpose(1, 2) for w in (w_q, w_k, w_v)
    )
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
    s = torch.where(future, q @ k.mT / D**0.5, -1e15)
    out = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d)
    return (out @ w_o.double().T).to(x.dtype)
