import torch


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    B, T, _ = x.shape
    R = w_dkv.shape[0]
    D = w_uk.shape[0] // n_heads

    # down
    latent = x @ w_dkv.T  # (B, T, R)

    # up, each head with its own slice of the up-projections
    k_up = w_uk.view(D, n_heads, R).transpose(0, 1)
    v_up = w_uv.view(-1, n_heads, R).transpose(0, 1)
    k = latent.unsqueeze(1) @ k_up.transpose(1, 2)  # (B, H, T, D)
    v = latent.unsqueeze(1) @ v_up.transpose(1, 2)  # (B, H, T, D_v)
    q = (x @ w_q.T).view(B, T, n_heads, D).transpose(1, 2)

    scores = q @ k.transpose(-1, -2) / D**0.5
    causal = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    scores = torch.where(causal, scores, torch.finfo(scores.dtype).min)
    mix = scores.softmax(dim=-1) @ v
    merged = mix.transpose(1, 2).reshape(B, T, -1)
    return merged @ w_o.T, latent
