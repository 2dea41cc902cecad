import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    # (B, T, H, D): heads stay in third place
    q, k, v = [torch.einsum("btd,ed->bte", x, w).unflatten(-1, (n_heads, D)) for w in (w_q, w_k, w_v)]
    rows = []
    for i in range(T):
        s = torch.einsum("bhe,bshe->bhs", q[:, i], k[:, : i + 1]) * D ** (-1 / 2)
        w = torch.exp(s - torch.logsumexp(s, -1, keepdim=True))
        rows.append(torch.einsum("bhs,bshe->bhe", w, v[:, : i + 1]).flatten(1))
    return torch.stack(rows, 1) @ w_o.mT
