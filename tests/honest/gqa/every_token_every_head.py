import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    qs = torch.stack((x @ w_q.T).chunk(n_heads, dim=-1))
    ks = torch.stack((x @ w_k.T).chunk(n_kv_heads, dim=-1))
    vs = torch.stack((x @ w_v.T).chunk(n_kv_heads, dim=-1))
    share = n_heads // n_kv_heads
    tokens = []
    for t in range(T):
        heads = []
        for h in range(n_heads):
            g = h // share
            s = (ks[g, :, : t + 1] @ qs[h, :, t, :, None]).squeeze(-1) / qs.shape[-1] ** 0.5
            p = torch.softmax(s, dim=1)
            heads.append((p[:, None] @ vs[g, :, : t + 1]).squeeze(1))
        tokens.append(torch.cat(heads, -1))
    return torch.stack(tokens, dim=1) @ w_o.T
