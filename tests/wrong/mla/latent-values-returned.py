import torch


def causal_bias(n, like):
    return torch.full((n, n), float("-inf"), dtype=like.dtype, device=like.device).triu(diagonal=1)


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    b, n, d_model = x.shape
    latent = torch.matmul(x, w_dkv.t())
    queries = torch.matmul(x, w_q.t()).reshape(b, n, n_heads, -1).transpose(1, 2)
    keys = torch.matmul(latent, w_uk.t()).reshape(b, n, n_heads, -1).transpose(1, 2)
    cache = torch.matmul(latent, w_uv.t())
    values = cache.reshape(b, n, n_heads, -1).transpose(1, 2)
    scale = queries.shape[-1] ** 0.5
    scores = torch.matmul(queries, keys.transpose(2, 3)) / scale
    scores = scores + causal_bias(n, scores)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    weights = torch.exp(scores)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    mixed = torch.matmul(weights, values)
    merged = mixed.transpose(1, 2).reshape(b, n, -1)
    return torch.matmul(merged, w_o.t()), cache
