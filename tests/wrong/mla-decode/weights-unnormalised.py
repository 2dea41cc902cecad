import torch


def latent_decode(q, latent, w_uk, w_uv):
    """Walks over the cache once, with a running maximum."""
    B, H, _, D = q.shape
    S, R = latent.shape[1], latent.shape[2]
    wk = w_uk.float().view(H, D, R)
    wv = w_uv.float().view(H, -1, R)
    qa = torch.einsum("bhd,hdr->bhr", q[:, :, 0].float(), wk) / D**0.5
    m = torch.full((B, H, 1), float("-inf"), device=q.device)
    acc = torch.zeros(B, H, R, device=q.device)
    for s in range(S):
        c = latent[:, s].float().unsqueeze(1)
        score = (qa * c).sum(dim=-1, keepdim=True)
        new_m = torch.maximum(m, score)
        decay = torch.exp(m - new_m)
        p = torch.exp(score - new_m)
        acc = acc * decay + p * c
        m = new_m
    return torch.einsum("bhr,hvr->bhv", acc, wv).unsqueeze(2).to(q.dtype)
