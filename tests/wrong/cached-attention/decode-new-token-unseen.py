import torch


class KVCache:
    """Slots for past and new tokens of one layer."""

    def __init__(self, past, extra):
        B, H, S, D = past.shape
        self.length = S
        self.data = past.new_zeros(B, H, S + extra, D)
        self.data[:, :, :S] = past

    def append(self, new):
        n = new.shape[2]
        self.data[:, :, self.length : self.length + n] = new
        self.length += n
        return self.data[:, :, : self.length]


def rotary(t, pos, base):
    D = t.shape[-1]
    inv_freq = base ** -(torch.arange(0, D, 2, device=t.device, dtype=torch.float32) / D)
    phase = torch.einsum("t,f->tf", pos.float(), inv_freq).repeat(1, 2)
    flipped = torch.cat((-t[..., D // 2 :], t[..., : D // 2]), dim=-1)
    return (t * phase.cos() + flipped * phase.sin()).to(t.dtype)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    B, T, _ = x.shape
    kc, vc = KVCache(k_cache, T), KVCache(v_cache, T)
    pos = kc.length + torch.arange(T, device=x.device)

    w_qkv = torch.cat([w_q, w_k, w_v], dim=0)
    q, k, v = (x @ w_qkv.T).split([w_q.shape[0], w_k.shape[0], w_v.shape[0]], dim=-1)
    q = q.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = k.unflatten(-1, (n_kv_heads, -1)).transpose(1, 2)
    v = v.unflatten(-1, (n_kv_heads, -1)).transpose(1, 2)

    q = rotary(q, pos, base)
    k = rotary(k, pos, base)

    D = q.shape[-1]
    q5 = q.unflatten(1, (n_kv_heads, -1))  # (B, H_kv, G, T, D)
    att = q5 @ k_cache.unsqueeze(2).mT / D**0.5
    att = att.softmax(dim=-1)
    out = (att @ v_cache.unsqueeze(2)).flatten(1, 2)
    return out.transpose(1, 2).reshape(B, T, -1) @ w_o.T, kc.append(k), vc.append(v)
