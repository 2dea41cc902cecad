import torch


def attention_backward(q, k, v, d_out):
    batch_size, num_heads, num_tokens, head_dim = q.shape
    scale = 1.0 / (head_dim ** 0.5)

    # ---- forward pass ----
    scores = torch.matmul(q, k.transpose(2, 3)) * scale
    causal_mask = torch.tril(torch.ones(num_tokens, num_tokens, device=q.device)) == 1
    scores = scores.masked_fill(~causal_mask, float("-inf"))
    weights = torch.softmax(scores, dim=-2)
    output = torch.matmul(weights, v)

    # ---- backward pass ----
    # output = weights @ v
    d_v = torch.matmul(weights.transpose(2, 3), d_out)
    d_weights = torch.matmul(d_out, v.transpose(2, 3))

    # weights = softmax(scores)
    row_term = (d_out * output).sum(dim=-1, keepdim=True)
    d_scores = weights * (d_weights - row_term)

    # scores = q @ k^T * scale
    d_q = torch.matmul(d_scores, k) * scale
    d_k = torch.matmul(d_scores.transpose(2, 3), q) * scale
    return d_q, d_k, d_v
