import torch


def cached_gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache):
    """Old and new keys apart, joined by their log-sum-exps; float64 inside."""
    kind = x.dtype
    X, Q, K, V, O = (a.double() for a in (x, w_q, w_k, w_v, w_o))
    B, T, _ = X.shape
    D = k_cache.shape[-1]
    fan = [h * n_kv_heads // n_heads for h in range(n_heads)]

    def split(z, n):
        return z.view(B, T, n, D).transpose(1, 2)

    q = split(X @ Q.T, n_heads) / D**0.5
    k_new, v_new = split(X @ K.T, n_kv_heads), split(X @ V.T, n_kv_heads)
    old = q @ k_cache.double()[:, fan].mT
    new = q @ k_new[:, fan].mT + torch.full((T, T), -torch.inf).double().triu(1)
    total = torch.logaddexp(
        torch.logsumexp(old, -1, keepdim=True), torch.logsumexp(new, -1, keepdim=True)
    )
    mixed = (old - total).exp() @ v_cache.double()[:, fan] + (new - total).exp() @ v_new[:, fan]
    out = (mixed.transpose(1, 2).flatten(2) @ O.T).to(kind)
    return out, torch.cat((k_cache, k_new.to(kind)), 2), torch.cat((v_cache, v_new.to(kind)), 2)
