import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T = x.shape[:2]
    D = w_q.shape[0] // n_heads
    per = n_heads // n_kv_heads
    X = x.to(torch.float64)
    q = torch.nn.functional.linear(X, w_q.double()).unflatten(2, (n_heads, D)).movedim(2, 1)

    def shared(w):
        y = torch.nn.functional.linear(X, w.double()).unflatten(2, (n_kv_heads, D)).movedim(2, 1)
        return y[:, :, None].expand(B, n_kv_heads, per, T, D).reshape(B, n_heads, T, D)

    k, v = shared(w_k), shared(w_v)
    s = (q @ k.mT).div_(D**0.5) if not q.requires_grad else (q @ k.mT) / D**0.5
    s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -1e12)
    o = (torch.softmax(s, -1) @ v).movedim(1, 2).flatten(2)
    return (o @ w_o.double().T).to(x.dtype)
