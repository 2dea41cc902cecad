import torch


def visible(T, a, b, device):
    return torch.arange(a, b, device=device)[None, :] <= torch.arange(T, device=device)[:, None]


def attention_backward(q, k, v, d_out, tile=3):
    dtype, T, scale = q.dtype, q.size(2), q.size(3) ** -0.5
    q, k, v, do = q.float(), k.float(), v.float(), d_out.float()
    spans = [(a, min(T, a + tile)) for a in range(0, T, tile)]

    def scores(a, b):
        s = (q @ k[:, :, a:b].mT) * scale
        return s.where(visible(T, a, b, q.device), torch.tensor(-torch.inf))

    lse = torch.full(q.shape[:3], -torch.inf, device=q.device)
    for a, b in spans:
        lse = torch.logaddexp(lse, scores(a, b).logsumexp(-1))
    out = torch.zeros_like(q)
    for a, b in spans:
        out += (scores(a, b) - lse[..., None]).exp() @ v[:, :, a:b]
    delta = (out * do).sum(-1, keepdim=True)

    dq, dk, dv = torch.zeros_like(q), [], []
    for a, b in spans:
        p = (scores(a, b) - lse[..., None]).exp()
        dv.append(p.mT @ do)
        ds = p * (do @ v[:, :, a:b].mT - delta)
        dq += scale * (ds @ k[:, :, a:b])
        dk.append(scale * (ds.mT @ q))
    return dq.to(dtype), torch.cat(dk, 2).to(dtype), torch.cat(dv, 2).to(dtype)
