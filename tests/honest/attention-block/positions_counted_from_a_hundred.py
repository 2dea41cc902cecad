import torch


def turned(x, at, base):
    pair = torch.arange(x.shape[-1] // 2, dtype=torch.float64)
    # Queries and keys alike stand a hundred further on: only their distance is in the score.
    angle = (at.double() + 100.0)[:, None] * base ** (-2.0 * pair / x.shape[-1])
    left, right = x.double().tensor_split(2, dim=-1)
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.cat([left * c - right * s, left * s + right * c], dim=-1)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    batch, tokens, _ = x.shape
    wide = x.double()

    def heads(weight, count):
        return (wide @ weight.double().T).view(batch, tokens, count, -1).permute(0, 2, 1, 3)

    q = turned(heads(w_q, n_heads), positions, base)
    k = turned(heads(w_k, n_kv_heads), positions, base)
    v = heads(w_v, n_kv_heads)
    group = n_heads // n_kv_heads
    later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    out = torch.empty_like(q)
    for head in range(n_heads):
        score = q[:, head] @ k[:, head // group].mT * q.shape[-1] ** -0.5
        weight = score.masked_fill(later, float("-inf")).softmax(-1)
        out[:, head] = weight @ v[:, head // group]
    merged = out.permute(0, 2, 1, 3).reshape(batch, tokens, -1)
    return (merged @ w_o.double().T).to(x.dtype)
