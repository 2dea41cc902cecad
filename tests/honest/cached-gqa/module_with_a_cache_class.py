import torch
from torch import nn


class KVCache:
    def __init__(self, keys, values):
        self.keys, self.values = keys, values

    @property
    def length(self):
        return self.keys.size(2)

    def update(self, keys, values):
        self.keys = torch.cat((self.keys, keys), dim=2)
        self.values = torch.cat((self.values, values), dim=2)
        return self.keys, self.values


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, head_dim, n_heads, n_kv_heads, dtype):
        super().__init__()
        self.head_dim, self.n_heads, self.n_kv_heads = head_dim, n_heads, n_kv_heads
        self.q = nn.Linear(d_model, n_heads * head_dim, bias=False, dtype=dtype)
        self.k = nn.Linear(d_model, n_kv_heads * head_dim, bias=False, dtype=dtype)
        self.v = nn.Linear(d_model, n_kv_heads * head_dim, bias=False, dtype=dtype)
        self.o = nn.Linear(n_heads * head_dim, d_model, bias=False, dtype=dtype)

    @staticmethod
    def repeat_kv(z, n):
        b, h, s, d = z.shape
        return z[:, :, None].expand(b, h, n, s, d).reshape(b, h * n, s, d)

    def forward(self, x, cache):
        b, t, _ = x.size()
        offset = cache.length
        q = self.q(x).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
        k, v = cache.update(
            self.k(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2),
            self.v(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2),
        )
        n = self.n_heads // self.n_kv_heads
        att = (q @ self.repeat_kv(k, n).mT) * self.head_dim**-0.5
        if t > 1:  # a single token may see everything
            causal = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)
            seen = torch.zeros(t, offset, dtype=torch.bool)
            att = att.masked_fill(torch.cat((seen, causal), -1), torch.finfo(att.dtype).min)
        att = nn.functional.softmax(att.float() if att.dtype != torch.float64 else att, -1)
        y = att.to(x.dtype) @ self.repeat_kv(v, n)
        return self.o(y.transpose(1, 2).contiguous().view(b, t, -1))


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    layer = GroupedQueryAttention(
        x.shape[-1], w_q.shape[0] // n_heads, n_heads, n_kv_heads, x.dtype
    )
    state = {"q.weight": w_q, "k.weight": w_k, "v.weight": w_v, "o.weight": w_o}
    layer.load_state_dict(state)
    cache = KVCache(k_cache, v_cache)
    with torch.inference_mode():
        out = layer(x, cache)
    return out.clone(), cache.keys.clone(), cache.values.clone()
