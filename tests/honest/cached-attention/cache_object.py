from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Cache:
    keys: Tensor
    values: Tensor

    def __len__(self) -> int:
        return self.keys.shape[-2]

    def extended(self, keys: Tensor, values: Tensor) -> "Cache":
        return Cache(
            torch.cat((self.keys, keys.to(self.keys.dtype)), dim=-2),
            torch.cat((self.values, values.to(self.values.dtype)), dim=-2),
        )


@dataclass
class Attention:
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    w_o: Tensor
    heads: int
    kv_heads: int
    base: float

    def rope(self, z: Tensor, offset: int) -> Tensor:
        d = z.shape[-1]
        pos = torch.arange(offset, offset + z.shape[-2], dtype=torch.float32)
        freq = torch.exp(-torch.log(torch.tensor(self.base)) * torch.arange(0, d, 2) / d)
        angle = pos.unsqueeze(1) * freq
        z1, z2 = z.float().unflatten(-1, (2, d // 2)).unbind(-2)
        cos, sin = torch.cos(angle), torch.sin(angle)
        return torch.stack((z1 * cos - z2 * sin, z2 * cos + z1 * sin), -2).flatten(-2)

    def __call__(self, x: Tensor, cache: Cache) -> "tuple[Tensor, Cache]":
        past = len(cache)

        def split(w: Tensor, n: int) -> Tensor:
            return torch.einsum("btc,nec->bnte", x, w.unflatten(0, (n, -1)))

        q = self.rope(split(self.w_q, self.heads), past)
        cache = cache.extended(
            self.rope(split(self.w_k, self.kv_heads), past), split(self.w_v, self.kv_heads)
        )
        keys, values = cache.keys.float(), cache.values.float()
        # heads that share a key head are put below each other: (B, H_kv, G T, D)
        g, t, d = self.heads // self.kv_heads, q.shape[2], q.shape[3]
        rows = q.unflatten(1, (self.kv_heads, g)).flatten(2, 3)
        scores = rows @ keys.mT / d**0.5
        ahead = torch.arange(len(cache)) > torch.arange(past, past + t).repeat(g).unsqueeze(1)
        scores = scores.masked_fill(ahead, torch.finfo(torch.float32).min)
        mixed = torch.softmax(scores, -1) @ values
        mixed = mixed.unflatten(2, (g, t)).flatten(1, 2)
        wide = self.w_o.unflatten(1, (self.heads, d)).float()
        return torch.einsum("bntd,cnd->btc", mixed, wide).to(x.dtype), cache


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    layer = Attention(w_q, w_k, w_v, w_o, n_heads, n_kv_heads, float(base))
    out, cache = layer(x, Cache(k_cache, v_cache))
    return out, cache.keys, cache.values
