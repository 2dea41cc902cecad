import torch


def flash_attention(q, k, v, block_size, causal=False):
    n_q, n_k = q.shape[2], k.shape[2]
    scale = q.shape[3] ** -0.5
    last_key = torch.arange(n_q, device=q.device) + n_k - n_q
    out = torch.zeros(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.full(q.shape[:3], -torch.inf, device=q.device)
    for first in range(0, n_q, block_size):
        kb = k[:, :, first : first + block_size].float()
        vb = v[:, :, first : first + block_size].float()
        s = torch.matmul(q.float(), kb.transpose(-1, -2)) * scale
        if causal:
            key = torch.arange(first, first + kb.shape[2], device=q.device)
            s = s.masked_fill(key > last_key[:, None], -torch.inf)
        new = torch.logaddexp(lse, s.logsumexp(-1))
        out = out * (lse - new).exp().unsqueeze(-1) + (s - new.unsqueeze(-1)).exp() @ vb
        lse = new
    return out.to(q.dtype)
