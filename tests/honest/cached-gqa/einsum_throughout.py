import torch
from torch import einsum


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    """Weights seen per head; letters: b batch, t new, s all, h and g heads, e width, c model."""
    s_old, width = k_cache.shape[2:]
    new = x.shape[1]
    share = n_heads // n_kv_heads
    wq = w_q.reshape(n_kv_heads, share, width, -1)
    wk = w_k.reshape(n_kv_heads, width, -1)
    wv = w_v.reshape(n_kv_heads, width, -1)
    wo = w_o.reshape(-1, n_kv_heads, share, width)
    q = einsum("btc,hgec->bthge", x, wq) * width**-0.5
    k = torch.cat((k_cache, einsum("btc,hec->bhte", x, wk)), -2)
    v = torch.cat((v_cache, einsum("btc,hec->bhte", x, wv)), -2)
    logits = einsum("bthge,bhse->bhgts", q, k)
    place = torch.arange(s_old + new, device=x.device)
    logits = torch.where(place <= place[s_old:, None], logits, torch.finfo(x.dtype).min)
    p = logits.softmax(-1)
    return einsum("bhgts,bhse,chge->btc", p, v, wo), k, v
