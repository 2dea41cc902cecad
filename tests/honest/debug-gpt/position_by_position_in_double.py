"""With a list of the keys and values of each layer, a position at a time."""
import math

import torch


def norm(x, gain):
    x = x - x.mean(-1, keepdim=True)
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + 1e-5) * gain


def gelu(x):
    return x * 0.5 * torch.erfc(-x / math.sqrt(2))


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    E, P, QKV, O, U, W, GA, GM, GO = (
        t.to(torch.float64) for t in (embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out)
    )
    B, T = tokens.shape
    L, d = len(QKV), E.shape[1]
    D = d // n_heads
    past = [[] for _ in range(L)]
    logits = torch.empty(B, T, E.shape[0], dtype=embed.dtype, device=embed.device)
    for t in range(T):
        x = E[tokens[:, t]] + P[t]
        for n in range(L):
            q, k, v = (norm(x, GA[n]) @ QKV[n].T).view(B, 3, n_heads, D).unbind(1)
            past[n].append((k, v))
            keys = torch.stack([k for k, _ in past[n]], -1)
            values = torch.stack([v for _, v in past[n]], -2)
            w = torch.softmax((q[..., None, :] @ keys) / math.sqrt(D), -1)
            x = x + (w @ values).reshape(B, d) @ O[n].T
            x = x + gelu(norm(x, GM[n]) @ U[n].T) @ W[n].T
        logits[:, t] = (norm(x, GO) @ E.T).to(embed.dtype)
    return logits
