import torch

_bias_cache: dict = {}


def _causal_bias(t, dtype, device):
    key = (t, dtype, device)
    if key not in _bias_cache:
        _bias_cache[key] = torch.full((t, t), torch.finfo(dtype).min, dtype=dtype, device=device).triu_(1)
    return _bias_cache[key]


def latent_attention(x, w_q, w_dkv, w_uk, w_uv, w_o, n_heads):
    B, T, _ = x.shape
    fold = lambda y: y.view(B, T, n_heads, -1).permute(2, 0, 1, 3).flatten(0, 1)  # (H*B, T, .)
    latent = x @ w_dkv.t()
    q, k, v = fold(x @ w_q.t()), fold(latent @ w_uk.t()), fold(latent @ w_uv.t())
    bias = _causal_bias(T, x.dtype, x.device).expand(n_heads * B, T, T)
    p = torch.baddbmm(bias, q, k.mT, alpha=1 / q.size(-1) ** 0.5).softmax(-1)
    y = torch.bmm(p, v).view(n_heads, B, T, -1).permute(1, 2, 0, 3).flatten(2)
    return y @ w_o.t(), latent
