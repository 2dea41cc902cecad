import torch


def turn(t, positions, base):
    half = t.shape[-1] // 2
    speed = base ** (-torch.arange(half, dtype=torch.float32) / half)
    angle = positions[:, None].float() * speed
    cos, sin = angle.cos().to(t.dtype), angle.sin().to(t.dtype)
    first, second = t.split(half, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    b, t, _ = x.shape
    s = k_cache.shape[2]

    def heads(w, n):
        return (x @ w.T).view(b, t, n, -1).transpose(1, 2)

    positions = torch.arange(s, s + t)
    q = turn(heads(w_q, n_heads), positions, base)
    k = torch.cat((k_cache, turn(heads(w_k, n_kv_heads), positions, base)), dim=2)
    v = torch.cat((v_cache, heads(w_v, n_kv_heads)), dim=2)

    # grouped: one axis for the key/value head, one for its queries
    grouped = q.reshape(b, n_kv_heads, n_heads // n_kv_heads, t, -1)
    scores = torch.einsum("bkgtd,bksd->bkgts", grouped, k) / q.shape[-1] ** 0.5
    later = torch.arange(s + t)[None, :] > positions[:, None]
    scores[later.expand_as(scores)] = -10000.0
    out = torch.einsum("bkgts,bksd->bkgtd", torch.softmax(scores, dim=-1), v)
    out = out.reshape(b, n_heads, t, -1).transpose(1, 2).reshape(b, t, -1)
    return out @ w_o.T, k, v
