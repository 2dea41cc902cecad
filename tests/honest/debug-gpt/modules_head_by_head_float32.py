import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, w_qkv, w_o, n_heads):
        super().__init__()
        self.w_q, self.w_k, self.w_v = w_qkv.chunk(3, 0)
        self.w_o, self.n_heads = w_o, n_heads

    def forward(self, x):
        T, d = x.shape[1], x.shape[2]
        D = d // self.n_heads
        allowed = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        result = 0
        for h in range(self.n_heads):
            rows = slice(h * D, (h + 1) * D)
            q, k, v = x @ self.w_q[rows].T, x @ self.w_k[rows].T, x @ self.w_v[rows].T
            s = (q @ k.transpose(1, 2) / D**0.5).masked_fill(~allowed, -1e30)
            result = result + s.softmax(2) @ v @ self.w_o[:, rows].T
        return result


class Norm(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        c = x - x.mean(-1, keepdim=True)
        return c * torch.rsqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain


class MLP(nn.Module):
    def __init__(self, up, down):
        super().__init__()
        self.up, self.down, self.act = up, down, nn.GELU()

    def forward(self, x):
        return self.act(x @ self.up.T) @ self.down.T


class Residual(nn.Module):
    def __init__(self, norm, inner):
        super().__init__()
        self.norm, self.inner = norm, inner

    def forward(self, x):
        return x + self.inner(self.norm(x))


def gpt(tokens, embed, places, w_qkv, w_o, w_up, w_down, g_attn, g_mlp, g_out, n_heads):
    f = lambda t: t.float()
    layers = []
    for n in range(len(w_qkv)):
        layers.append(Residual(Norm(f(g_attn[n])), Attention(f(w_qkv[n]), f(w_o[n]), n_heads)))
        layers.append(Residual(Norm(f(g_mlp[n])), MLP(f(w_up[n]), f(w_down[n]))))
    model = nn.Sequential(*layers, Norm(f(g_out)))
    x = f(embed)[tokens] + f(places)[torch.arange(tokens.shape[1], device=tokens.device)]
    return (model(x) @ f(embed).T).to(embed.dtype)
