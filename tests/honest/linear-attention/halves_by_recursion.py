import torch
import torch.nn.functional as F


def _solve(q, k, v, state):
    """Answers for a stretch given the state before it; also the state after it. Each row is met once a leaf."""
    T = q.shape[-2]
    if T <= 4:
        inside = (q @ k.mT).tril()
        return inside @ v + q @ state, state + k.mT @ v
    half = T // 2
    left, state = _solve(q[..., :half, :], k[..., :half, :], v[..., :half, :], state)
    right, state = _solve(q[..., half:, :], k[..., half:, :], v[..., half:, :], state)
    return torch.cat((left, right), -2), state


def linear_attention(q, k, v):
    dtype = q.dtype
    if dtype == torch.bfloat16:
        q, k, v = q.float(), k.float(), v.float()
    q = F.elu(q).add(1)
    k = F.elu(k).add(1)
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    y, _ = _solve(q, k, v, q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1]))
    return y[..., :-1].div(y[..., -1:].clamp_min(1e-12)).to(dtype)
