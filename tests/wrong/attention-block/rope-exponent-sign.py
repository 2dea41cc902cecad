import torch


def softmax(t, dim):
    t = t - t.amax(dim=dim, keepdim=True)
    e = t.exp()
    return e / e.sum(dim=dim, keepdim=True)


def rotary(x, positions, base):
    d = x.size(-1)
    exponent = torch.arange(0, d, 2, device=x.device, dtype=torch.float32) / d
    angle = positions.unsqueeze(-1).float() * base**exponent
    angle = torch.cat([angle, angle], dim=-1)
    swapped = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    return x * angle.cos().to(x.dtype) + swapped * angle.sin().to(x.dtype)


def split_heads(t, n):
    b, s, w = t.shape
    return t.reshape(b, s, n, w // n).permute(0, 2, 1, 3)


def merge_heads(t):
    b, n, s, w = t.shape
    return t.permute(0, 2, 1, 3).reshape(b, s, n * w)


def attention_block(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, positions, base=10000.0):
    q = split_heads(x @ w_q.t(), n_heads)
    k = split_heads(x @ w_k.t(), n_kv_heads)
    v = split_heads(x @ w_v.t(), n_kv_heads)
    q = rotary(q, positions, base)
    k = rotary(k, positions, base)
    group = n_heads // n_kv_heads
    k = torch.stack([k[:, h // group] for h in range(n_heads)], dim=1)
    v = torch.stack([v[:, h // group] for h in range(n_heads)], dim=1)
    scores = q @ k.transpose(2, 3) / (q.size(-1) ** 0.5)
    n = x.size(1)
    mask = torch.tril(torch.ones(n, n, device=x.device))
    scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = softmax(scores, -1)
    return merge_heads(weights @ v) @ w_o.t()
