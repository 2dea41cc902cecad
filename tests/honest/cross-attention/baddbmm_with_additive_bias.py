import torch
from torch import Tensor


def _fold(y: Tensor, n_heads: int) -> Tensor:
    """(B, L, d) -> (B * H, L, D)"""
    B, L, d = y.shape
    return y.view(B, L, n_heads, d // n_heads).transpose(1, 2).reshape(B * n_heads, L, d // n_heads)


def _unfold(y: Tensor, n_heads: int) -> Tensor:
    """(B * H, L, D) -> (B, L, d)"""
    BH, L, D = y.shape
    return y.view(BH // n_heads, n_heads, L, D).transpose(1, 2).reshape(BH // n_heads, L, n_heads * D)


def cross_attention(
    x: Tensor,
    context: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    context_lengths: Tensor | None = None,
) -> Tensor:
    B, S = context.shape[:2]
    q = _fold(x @ w_q.T, n_heads)
    k = _fold(context @ w_k.T, n_heads)
    v = _fold(context @ w_v.T, n_heads)

    bias = torch.zeros(B, S, dtype=x.dtype, device=x.device)
    if context_lengths is not None:
        beyond = torch.arange(S, device=x.device).unsqueeze(0) >= context_lengths.unsqueeze(1)
        bias[beyond] = torch.finfo(x.dtype).min
    bias = bias.repeat_interleave(n_heads, dim=0).unsqueeze(1)  # (B*H, 1, S)

    scores = torch.baddbmm(bias, q, k.transpose(1, 2), beta=1, alpha=q.shape[-1] ** -0.5)
    return _unfold(torch.bmm(torch.softmax(scores, -1), v), n_heads) @ w_o.T
