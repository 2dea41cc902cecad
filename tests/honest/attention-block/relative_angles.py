import torch


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    """RoPE shows only in scores, and there only through differences of positions:
    a pair of q at p and of k at r meet at the angle (r - p) f. So nothing is rotated;
    the dot and cross products of the pairs are weighed by cosine and sine instead.
    """
    B, T, _ = x.shape
    D = w_q.shape[0] // n_heads
    G = n_heads // n_kv_heads
    q = (x @ w_q.T).float().view(B, T, n_kv_heads, G, 2, D // 2)
    k = (x @ w_k.T).float().view(B, T, n_kv_heads, 2, D // 2)
    v = (x @ w_v.T).float().view(B, T, n_kv_heads, D)
    qa, qb = q.unbind(-2)
    ka, kb = k.unbind(-2)

    f = base ** (-2 * torch.arange(D // 2, dtype=torch.float64) / D)
    apart = positions[None, :] - positions[:, None]  # (T query, T key), whole numbers
    angle = apart.double().unsqueeze(-1) * f
    cos, sin = angle.cos().float(), angle.sin().float()

    dot = torch.einsum("btngi,bsni,tsi->bngts", qa, ka, cos)
    dot = dot + torch.einsum("btngi,bsni,tsi->bngts", qb, kb, cos)
    cross = torch.einsum("btngi,bsni,tsi->bngts", qb, ka, sin)
    cross = cross - torch.einsum("btngi,bsni,tsi->bngts", qa, kb, sin)
    scores = (dot + cross) / D**0.5
    scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
    out = torch.einsum("bngts,bsnd->btngd", scores.softmax(-1), v)
    return out.flatten(2).to(x.dtype) @ w_o.T
