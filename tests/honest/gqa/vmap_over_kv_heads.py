import torch


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    d, T = x.shape[2], x.shape[1]
    D = w_q.shape[0] // n_heads
    past = torch.arange(T)[:, None].ge(torch.arange(T)[None, :])

    def query_head(wq, wo, k, v):
        s = torch.einsum("btd,bsd->bts", x @ wq.T, k) / D**0.5
        s = torch.where(past, s, -torch.inf)
        return s.softmax(-1) @ v @ wo.T

    def kv_head(wq, wo, wk, wv):
        per_query = torch.vmap(query_head, in_dims=(0, 0, None, None))
        return per_query(wq, wo, x @ wk.T, x @ wv.T).sum(0)

    wq = w_q.reshape(n_kv_heads, -1, D, d)
    wo = w_o.reshape(d, n_kv_heads, -1, D).permute(1, 2, 0, 3)
    kv = [w.reshape(n_kv_heads, D, d) for w in (w_k, w_v)]
    return torch.vmap(kv_head)(wq, wo, *kv).sum(0)
