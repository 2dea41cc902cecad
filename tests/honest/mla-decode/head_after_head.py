import torch


def latent_decode(q, latent, w_uk, w_uv):
    batch, n_heads, _, head_width = q.shape
    value_width = w_uv.shape[0] // n_heads
    answer = torch.zeros(batch, n_heads, 1, value_width, dtype=q.dtype, device=q.device)
    for h in range(n_heads):
        up_k = w_uk[h * head_width : (h + 1) * head_width]  # (D, R)
        up_v = w_uv[h * value_width : (h + 1) * value_width]  # (D_v, R)
        # (q W) c == q (W c): the bracket on the left costs nothing per position
        query = q[:, h] @ up_k  # (B, 1, R)
        scores = torch.bmm(query, latent.transpose(1, 2)) * head_width**-0.5  # (B, 1, S)
        # softmax by hand
        scores = scores - scores.amax(dim=-1, keepdim=True)
        weights = scores.exp()
        weights = weights / weights.sum(dim=-1, keepdim=True)
        mixed = torch.bmm(weights, latent)  # (B, 1, R)
        answer[:, h] = mixed @ up_v.T
    return answer
