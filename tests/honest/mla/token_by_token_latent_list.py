import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    """Runs as a decoder would: the list of latents grows by one, each new query attends to the list."""
    B, T, d = x.shape
    R = w_dkv.shape[0]
    D = w_q.shape[0] // n_heads
    wide = torch.float64
    X, Q, C, K, V, O = (w.to(wide) for w in (x, w_q, w_dkv, w_uk, w_uv, w_o))
    K = K.view(n_heads, D, R)
    V = V.view(n_heads, -1, R)
    cache, rows = [], []
    for t in range(T):
        now = X[:, t]
        cache.append(now @ C.T)
        past = torch.stack(cache, 1)  # (B, t + 1, R)
        q = (now @ Q.T).view(B, n_heads, D)
        q = torch.einsum("bhx,hxr->bhr", q, K)
        a = torch.einsum("bhr,bsr->bhs", q, past) / D**0.5
        a = torch.exp(torch.log_softmax(a, -1))
        y = torch.einsum("bhs,bsr->bhr", a, past)
        y = torch.einsum("bhr,hyr->bhy", y, V)
        rows.append(y.flatten(1) @ O.T)
    return torch.stack(rows, 1).to(x.dtype), torch.stack(cache, 1).to(x.dtype)
