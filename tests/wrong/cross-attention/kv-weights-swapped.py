import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    batch_size = x.shape[0]
    num_queries = x.shape[1]
    num_keys = context.shape[1]
    model_dim = x.shape[2]
    head_dim = model_dim // n_heads

    # project
    queries = x @ w_q.T
    keys = context @ w_v.T
    values = context @ w_k.T

    # split into heads: (batch, heads, length, head_dim)
    queries = queries.view(batch_size, num_queries, n_heads, head_dim).transpose(1, 2)
    keys = keys.view(batch_size, num_keys, n_heads, head_dim).transpose(1, 2)
    values = values.view(batch_size, num_keys, n_heads, head_dim).transpose(1, 2)

    # scores
    scores = torch.matmul(queries, keys.transpose(2, 3))
    scores = scores / head_dim**0.5

    # mask: True means the key is real
    if context_lengths is not None:
        mask = torch.zeros(batch_size, num_keys, dtype=torch.bool, device=x.device)
        for b in range(batch_size):
            mask[b, : context_lengths[b]] = True
        mask = mask[:, None, None, :]
        scores = scores.masked_fill(~mask, float("-inf"))

    # softmax and mix
    weights = torch.softmax(scores, dim=-1)
    mixed = torch.matmul(weights, values)

    # merge the heads and project
    merged = mixed.transpose(1, 2).reshape(batch_size, num_queries, model_dim)
    return merged @ w_o.T
