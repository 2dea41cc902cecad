"""In float32, one head at a time, each head adding its share of the output."""
import torch


def rotated(x, angle):
    n = x.shape[-1] // 2
    z = torch.view_as_complex(torch.stack((x[..., :n], x[..., n:]), -1).contiguous())
    z = torch.view_as_real(z * torch.exp(1j * angle))
    return torch.cat((z[..., 0], z[..., 1]), -1)


def latent_rope_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads, positions, base=10000.0):
    f = torch.float32
    R = w_uk.shape[1]
    Dr = w_dkv.shape[0] - R
    angle = positions.to(f)[:, None] * base ** (-2 * torch.arange(Dr // 2, device=x.device) / Dr)
    X = x.to(f)
    latent = X @ w_dkv[:R].to(f).T
    key_r = rotated(X @ w_dkv[R:].to(f).T, angle)
    out = torch.zeros(*x.shape[:2], w_o.shape[0], device=x.device)
    mask = torch.full((x.shape[1], x.shape[1]), -torch.inf, device=x.device).triu(1)
    per_head = zip(*(w.to(f).chunk(n_heads, 0) for w in (w_q, w_uk, w_uv)))
    for (wq, wk, wv), wo in zip(per_head, w_o.to(f).chunk(n_heads, 1)):
        q = X @ wq.T
        q = torch.cat((q[..., :-Dr], rotated(q[..., -Dr:], angle)), -1)
        k = torch.cat((latent @ wk.T, key_r), -1)
        p = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5 + mask, -1)
        out += p @ (latent @ wv.T) @ wo.T
    return out.to(x.dtype), torch.cat((latent, key_r), -1).to(x.dtype)
