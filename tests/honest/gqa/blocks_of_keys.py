import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    """Online softmax over blocks of two keys, last block first, in single precision."""
    B, T, _ = x.shape
    y = x.to(torch.float32)
    q = (y @ w_q.float().T).view(B, T, n_kv_heads, n_heads // n_kv_heads, -1)
    k = (y @ w_k.float().T).view(B, T, n_kv_heads, 1, -1)
    v = (y @ w_v.float().T).view(B, T, n_kv_heads, 1, -1)
    q = q * q.shape[-1] ** -0.5
    at = torch.arange(T)
    top = torch.full(q.shape[:-1], torch.finfo(torch.float32).min)
    total, mix = torch.zeros(q.shape[:-1]), torch.zeros(q.shape)
    for start in reversed(range(0, T, 2)):
        block = slice(start, start + 2)
        s = torch.einsum("btngd,bsnxd->btngs", q, k[:, block])
        hidden = (at[block] > at[:, None])[None, :, None, None]
        s = s.masked_fill(hidden, torch.finfo(torch.float32).min)
        new = torch.maximum(top, s.amax(-1))
        e = torch.exp(s - new[..., None]).masked_fill(hidden, 0)
        old = torch.exp(top - new)
        total = total * old + e.sum(-1)
        mix = mix * old[..., None] + torch.einsum("btngs,bsnxd->btngd", e, v[:, block])
        top = new
    return ((mix / total[..., None]).flatten(2) @ w_o.float().T).to(x.dtype)
