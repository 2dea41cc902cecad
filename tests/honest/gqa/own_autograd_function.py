import torch


class GroupedCore(torch.autograd.Function):
    """q (B, N, G, T, D), k and v (B, N, T, D); the gradients of k and v sum over the group."""

    @staticmethod
    def forward(ctx, q, k, v):
        T = q.shape[-2]
        scale = q.shape[-1] ** -0.5
        s = torch.einsum("bngtd,bnsd->bngts", q, k) * scale
        s = s.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
        p = torch.softmax(s, -1)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return torch.einsum("bngts,bnsd->bngtd", p, v)

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dv = torch.einsum("bngts,bngtd->bnsd", p, g)
        dp = torch.einsum("bngtd,bnsd->bngts", g, v)
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) * ctx.scale
        dq = torch.einsum("bngts,bnsd->bngtd", ds, k)
        return dq, torch.einsum("bngts,bngtd->bnsd", ds, q), dv


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    B, T, _ = x.shape
    G = n_heads // n_kv_heads
    q = (x @ w_q.T).view(B, T, n_kv_heads, G, -1).permute(0, 2, 3, 1, 4)
    k = (x @ w_k.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    v = (x @ w_v.T).view(B, T, n_kv_heads, -1).transpose(1, 2)
    y = GroupedCore.apply(q, k, v)
    return y.permute(0, 3, 1, 2, 4).reshape(B, T, -1) @ w_o.T
