import torch


def attention(q, k, v, mask=None):
    """Flatten batch and heads, add a bias with baddbmm, in double precision."""
    B, H, T, D = q.shape
    S, Dv = v.shape[-2:]
    Q, K, V = (z.double().reshape(B * H, z.shape[2], z.shape[3]) for z in (q, k, v))
    bias = torch.zeros(B * H, T, S, dtype=torch.float64)
    dead = None
    if mask is not None:
        full = torch.broadcast_to(mask, (B, H, T, S)).reshape(B * H, T, S)
        bias = bias.masked_fill(~full, -1e30)
        dead = ~full.any(-1, keepdim=True)
    scores = torch.baddbmm(bias, Q, K.transpose(1, 2), alpha=1.0 / D**0.5)
    weights = torch.exp(torch.log_softmax(scores, -1))
    out = torch.bmm(weights, V)
    if dead is not None:
        out = out.masked_fill(dead, 0.0)
    return out.reshape(B, H, T, Dv).to(q.dtype)
