import torch
import torch.nn.functional as F


def rotations(positions, width, base):
    """(T, D, D): for each position the matrix that turns a column vector of one head."""
    half = width // 2
    turns = torch.zeros(len(positions), width, width, dtype=torch.float64)
    for i in range(half):
        angle = positions.double() * float(base) ** (-2 * i / width)
        turns[:, i, i] = turns[:, half + i, half + i] = angle.cos()
        turns[:, half + i, i] = angle.sin()
        turns[:, i, half + i] = -angle.sin()
    return turns


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    width = w_q.size(0) // n_heads
    tokens = x.size(1)
    turns = rotations(positions, width, base)
    x64 = x.double()
    keys = F.linear(x64, w_k.double()).unflatten(-1, (n_kv_heads, width))
    keys = torch.einsum("tij,btnj->btni", turns, keys)
    values = F.linear(x64, w_v.double()).unflatten(-1, (n_kv_heads, width))
    seen = torch.tril(torch.ones(tokens, tokens, dtype=torch.float64)).log()
    heads = []
    for h, weight in enumerate(w_q.double().split(width)):
        shared = h * n_kv_heads // n_heads
        query = torch.einsum("tij,btj->bti", turns, F.linear(x64, weight))
        scores = torch.baddbmm(seen, query, keys[:, :, shared].mT, alpha=width**-0.5)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        heads.append(torch.bmm(weights, values[:, :, shared]))
    return F.linear(torch.cat(heads, -1), w_o.double()).to(x.dtype)
