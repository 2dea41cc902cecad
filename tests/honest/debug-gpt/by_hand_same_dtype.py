import torch


def ln(x, g):
    mu = x.mean(2, keepdim=True)
    var = ((x - mu) ** 2).mean(2, keepdim=True)
    return g * (x - mu) / torch.sqrt(var + 1e-5)


def act(x):
    return 0.5 * x * (1.0 + torch.erf(x / 2**0.5))


def attend(x, w_qkv, w_o, H):
    B, T, C = x.size()
    qkv = x @ w_qkv.t()
    q, k, v = qkv[:, :, :C], qkv[:, :, C : 2 * C], qkv[:, :, 2 * C :]
    q = q.reshape(B, T, H, C // H).permute(0, 2, 1, 3)
    k = k.reshape(B, T, H, C // H).permute(0, 2, 3, 1)
    v = v.reshape(B, T, H, C // H).permute(0, 2, 1, 3)
    s = q @ k / (C // H) ** 0.5
    bias = torch.zeros(T, T, dtype=x.dtype, device=x.device)
    bias[torch.arange(T)[:, None] < torch.arange(T)] = float("-inf")
    y = torch.softmax(s + bias, dim=3) @ v
    return y.permute(0, 2, 1, 3).reshape(B, T, C) @ w_o.t()


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    T = tokens.shape[1]
    x = embed[tokens] + places[torch.arange(T)]
    for i in range(w_qkv.shape[0]):
        x = x + attend(ln(x, g_attn[i]), w_qkv[i], w_o[i], n_heads)
        x = x + act(ln(x, g_mlp[i]) @ w_up[i].t()) @ w_down[i].t()
    return torch.matmul(ln(x, g_out), embed.t())
