import torch


def generate(prompt, n_new, embed, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    dev = prompt.device
    E, Wq, Wk, Wv, Wo = (w.double() for w in (embed, w_q, w_k, w_v, w_o))
    T = prompt.numel()
    D = Wq.shape[0] // n_heads
    G = n_heads // n_kv_heads
    total = T + n_new

    theta = 10000.0 ** (-torch.arange(D // 2, dtype=torch.float64, device=dev) * 2 / D)
    angle = torch.arange(total, dtype=torch.float64, device=dev)[:, None] * theta
    cos, sin = angle.cos(), angle.sin()
    keys = torch.zeros(n_kv_heads, total, D, dtype=torch.float64, device=dev)
    values = torch.zeros_like(keys)

    def rope(y, lo, hi):
        a, b = y[..., : D // 2], y[..., D // 2 :]
        c, s = cos[lo:hi], sin[lo:hi]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

    def run(ids, lo):
        """Feed ids at positions lo, lo + 1, ...; logits of the last of them."""
        n = ids.numel()
        hi = lo + n
        x = E[ids]
        q = rope((x @ Wq.T).view(n, n_heads, D).transpose(0, 1), lo, hi)
        keys[:, lo:hi] = rope((x @ Wk.T).view(n, n_kv_heads, D).transpose(0, 1), lo, hi)
        values[:, lo:hi] = rope((x @ Wv.T).view(n, n_kv_heads, D).transpose(0, 1), lo, hi)
        q = q.view(n_kv_heads, G, n, D)
        att = q @ keys[:, None, :hi].mT / D**0.5
        hidden = torch.arange(hi, device=dev) > torch.arange(lo, hi, device=dev)[:, None]
        att = att.masked_fill(hidden, -torch.inf).softmax(-1)
        mix = (att @ values[:, None, :hi]).view(n_heads, n, D)
        h = x + mix.transpose(0, 1).reshape(n, n_heads * D) @ Wo.T
        return h[-1] @ E.T

    out = torch.empty(n_new, dtype=torch.int64, device=dev)
    logits = run(prompt, 0)
    for i in range(n_new):
        out[i] = logits.argmax()
        if i + 1 < n_new:
            logits = run(out[i : i + 1], T + i)
    return out
