import torch


def causal_mha(x, w_q, w_k, w_v, w_o, n_heads):
    B, T, d = x.shape
    hd = d // n_heads
    outs = []
    allowed = torch.ones(T, T, dtype=x.dtype, device=x.device).tril()
    for q, k, v in zip(
        (x @ w_q.T).split(hd, dim=-1), (x @ w_k.T).split(hd, dim=-1), (x @ w_v.T).split(hd, dim=-1)
    ):
        scores = q @ k.transpose(1, 2) / hd**0.5 * allowed
        outs.append(scores.softmax(dim=-1) @ v)
    return torch.cat(outs, -1) @ w_o.T
