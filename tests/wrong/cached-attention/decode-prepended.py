import torch


def precompute_freqs_cis(dim, start, end, theta):
    freqs = theta ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    t = torch.arange(start, end, dtype=torch.float64)
    angles = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(angles), angles)  # (T, D/2)


def apply_rotary(x, freqs_cis):
    half = x.shape[-1] // 2
    z = torch.complex(x[..., :half].double(), x[..., half:].double())
    z = z * freqs_cis.to(x.device)
    return torch.cat([z.real, z.imag], dim=-1).type_as(x)


def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k_cache, v_cache, base=10000.0):
    bsz, seqlen, _ = x.shape
    start_pos = k_cache.shape[2]
    head_dim = w_q.shape[0] // n_heads

    xq = (x @ w_q.t()).view(bsz, seqlen, n_heads, head_dim).transpose(1, 2)
    xk = (x @ w_k.t()).view(bsz, seqlen, n_kv_heads, head_dim).transpose(1, 2)
    xv = (x @ w_v.t()).view(bsz, seqlen, n_kv_heads, head_dim).transpose(1, 2)

    freqs_cis = precompute_freqs_cis(head_dim, start_pos, start_pos + seqlen, base)
    xq = apply_rotary(xq, freqs_cis)
    xk = apply_rotary(xk, freqs_cis)

    keys = torch.cat([xk, k_cache], dim=2)
    values = torch.cat([xv, v_cache], dim=2)

    n_rep = n_heads // n_kv_heads
    k_all = torch.repeat_interleave(keys, n_rep, dim=1)
    v_all = torch.repeat_interleave(values, n_rep, dim=1)

    scores = torch.matmul(xq, k_all.transpose(2, 3)) * head_dim**-0.5
    mask = torch.full((seqlen, start_pos + seqlen), float("-inf"), device=x.device, dtype=scores.dtype)
    mask = torch.triu(mask, diagonal=start_pos + 1)
    scores = scores + mask
    probs = torch.softmax(scores.float(), dim=-1).type_as(xq)
    output = torch.matmul(probs, v_all).transpose(1, 2).reshape(bsz, seqlen, n_heads * head_dim)
    return output @ w_o.t(), keys, values
