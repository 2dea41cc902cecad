import torch
import torch.nn.functional as F


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    """Multi-query attention over the latent: w_uk goes into the queries, w_uv and w_o become one matrix a head."""
    d, R = x.shape[-1], w_dkv.shape[0]
    D = w_q.shape[0] // n_heads
    D_v = w_uv.shape[0] // n_heads
    latent = F.linear(x, w_dkv)  # (B, T, R)

    w_qk = w_q.view(n_heads, D, d).transpose(1, 2) @ w_uk.view(n_heads, D, R)  # (H, d, R)
    w_vo = w_uv.view(n_heads, D_v, R).transpose(1, 2) @ w_o.view(d, n_heads, D_v).permute(1, 2, 0)  # (H, R, d)

    scores = (x.unsqueeze(1) @ w_qk) @ latent.transpose(1, 2).unsqueeze(1) / D**0.5  # (B, H, T, T)
    i = torch.arange(x.shape[1], device=x.device)
    scores = torch.where(i[:, None] >= i, scores, torch.tensor(-torch.inf, dtype=scores.dtype, device=x.device))
    mixed = scores.softmax(-1) @ latent.unsqueeze(1)  # (B, H, T, R)
    return (mixed @ w_vo).sum(1), latent
