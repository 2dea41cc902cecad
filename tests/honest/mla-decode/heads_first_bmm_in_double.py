import torch


def latent_decode(q, latent, w_uk, w_uv):
    B, H, _, D = q.shape
    S, R = latent.shape[1:]
    qh = q.double()[:, :, 0].transpose(0, 1)  # (H, B, D)
    qr = torch.bmm(qh, w_uk.double().view(H, D, R)).transpose(0, 1)  # (B, H, R)
    c = latent.double()
    zero = torch.zeros(1, 1, 1, dtype=torch.float64, device=q.device)
    s = torch.baddbmm(zero, qr, c.transpose(1, 2), alpha=D**-0.5)
    w = torch.exp(s - s.logsumexp(2, True))
    y = torch.bmm(torch.bmm(w, c).transpose(0, 1), w_uv.double().view(H, -1, R).transpose(1, 2))  # (H, B, D_v)
    return y.transpose(0, 1).unsqueeze(2).to(q.dtype)
