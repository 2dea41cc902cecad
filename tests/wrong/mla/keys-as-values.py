import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    B, T, d = x.shape
    D = w_uk.shape[0] // n_heads
    latent = x @ w_dkv.T
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (latent @ w_uk.T).view(B, T, n_heads, D).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / D**0.5
    mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ k).transpose(1, 2).reshape(B, T, -1)
    return out @ w_o.T, latent
