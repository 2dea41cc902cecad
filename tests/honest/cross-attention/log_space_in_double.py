import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    """Everything in float64 and the weights as exp(score - logsumexp); cast back at the end."""
    B, T, d = x.shape
    S = context.shape[1]
    D = d // n_heads
    X, C, Q, K, V, O = (a.double() for a in (x, context, w_q, w_k, w_v, w_o))
    lengths = context_lengths if context_lengths is not None else torch.full((B,), S, device=x.device)

    q = (X @ Q.T).view(B, T, n_heads, D).permute(2, 0, 1, 3)  # (H, B, T, D): heads first
    k = (C @ K.T).view(B, S, n_heads, D).permute(2, 0, 3, 1)  # (H, B, D, S)
    v = (C @ V.T).view(B, S, n_heads, D).permute(2, 0, 1, 3)  # (H, B, S, D)

    s = torch.matmul(q, k).div(D**0.5)
    s = s.masked_fill(torch.arange(S, device=x.device).expand(B, S).ge(lengths.unsqueeze(1)).unsqueeze(1), -torch.inf)
    log_p = s - torch.logsumexp(s, dim=-1, keepdim=True)
    y = torch.matmul(log_p.exp(), v)  # (H, B, T, D)
    return (y.permute(1, 2, 0, 3).reshape(B, T, d) @ O.T).to(x.dtype)
