import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    batch, heads, n_q, dim = q.shape
    n_k = k.shape[2]
    offset = n_k - n_q
    scale = 1.0 / math.sqrt(dim)
    out = torch.zeros_like(q)
    q_tiles = math.ceil(n_q / block_size)
    k_tiles = math.ceil(n_k / block_size)

    for tq in range(q_tiles):
        q_lo, q_hi = tq * block_size, min((tq + 1) * block_size, n_q)
        qi = q[:, :, q_lo:q_hi].float() * scale
        q_pos = torch.arange(q_lo, q_hi, device=q.device) + offset
        row_max = torch.full(qi.shape[:-1], float("-inf"), device=q.device)
        acc = torch.zeros_like(qi)
        for tk in range(k_tiles):
            k_lo, k_hi = tk * block_size, min((tk + 1) * block_size, n_k)
            if causal and k_lo > offset + q_hi - 1:
                break
            kj = k[:, :, k_lo:k_hi].float()
            vj = v[:, :, k_lo:k_hi].float()
            s = torch.einsum("bhqd,bhkd->bhqk", qi, kj)
            if causal:
                k_pos = torch.arange(k_lo, k_hi, device=q.device)
                s = s.masked_fill(k_pos[None, :] > q_pos[:, None], float("-inf"))
            new_max = torch.maximum(row_max, s.max(dim=-1).values)
            p = torch.exp(s - new_max.unsqueeze(-1))
            correction = torch.exp(row_max - new_max)
            acc = correction.unsqueeze(-1) * acc + torch.einsum("bhqk,bhkd->bhqd", p, vj)
            row_max = new_max
        out[:, :, q_lo:q_hi] = acc.to(q.dtype)
    return out
