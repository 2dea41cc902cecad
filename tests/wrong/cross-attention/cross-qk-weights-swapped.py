import torch


def softmax(scores):
    shifted = scores - scores.max(dim=-1, keepdim=True).values
    e = shifted.exp()
    return e / e.sum(dim=-1, keepdim=True)


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    B, T, d = x.shape
    _, S, _ = context.shape
    D = d // n_heads
    q = (x @ w_k.T).unflatten(-1, (n_heads, D)).movedim(2, 1)
    k = (context @ w_q.T).unflatten(-1, (n_heads, D)).movedim(2, 1)
    v = (context @ w_v.T).unflatten(-1, (n_heads, D)).movedim(2, 1)
    scores = torch.matmul(q / D**0.5, k.transpose(2, 3))
    if context_lengths is None:
        context_lengths = torch.full((B,), S, device=x.device)
    mask = torch.arange(S, device=x.device).expand(B, S) < context_lengths.unsqueeze(1)
    scores = scores.masked_fill(~mask.view(B, 1, 1, S), float("-inf"))
    p = softmax(scores)
    y = torch.matmul(p, v)
    return y.movedim(1, 2).reshape(B, T, d) @ w_o.T
