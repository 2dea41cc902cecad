import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    D = d // n_heads
    out = []
    for h in range(n_heads):
        s = slice(h * D, (h + 1) * D)
        q, k, v = x @ w_q[s].mT, x @ w_k[s].mT, x @ w_v[s].mT
        logits = q @ k.mT * D**-0.5
        logits = logits.masked_fill(logits.new_ones(T, T).tril() == 0, -torch.inf)
        out.append(logits.softmax(-1) @ v)
    return torch.cat(out, dim=2)
