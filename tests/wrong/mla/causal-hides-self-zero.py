import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    B, T, _ = x.shape
    D, Dv = w_uk.shape[0] // n_heads, w_uv.shape[0] // n_heads
    latent = x @ w_dkv.T
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)
    k = (latent @ w_uk.T).view(B, T, n_heads, D).transpose(1, 2)
    v = (latent @ w_uv.T).view(B, T, n_heads, Dv).transpose(1, 2)
    out = []
    for t in range(T):
        past = t
        scores = q[:, :, t : t + 1] @ k[:, :, :past].transpose(2, 3) / D**0.5
        weights = scores.softmax(dim=-1)
        out.append(weights @ v[:, :, :past])
    out = torch.cat(out, dim=2)
    return out.transpose(1, 2).reshape(B, T, n_heads * Dv) @ w_o.T, latent
