import torch


class _CausalLinear(torch.autograd.Function):
    """y_t = fq_t . sum_{s<=t} fk_s u_s^T. The backward pass recomputes the state instead of storing T of them."""

    @staticmethod
    def forward(ctx, fq, fk, u):
        ctx.save_for_backward(fq, fk, u)
        state = fq.new_zeros(fq.shape[0], fq.shape[1], fq.shape[3], u.shape[3])
        y = torch.empty_like(u)
        for t in range(fq.shape[2]):
            state += fk[:, :, t].unsqueeze(-1) * u[:, :, t].unsqueeze(-2)
            y[:, :, t] = torch.einsum("bhd,bhdm->bhm", fq[:, :, t], state)
        return y

    @staticmethod
    def backward(ctx, dy):
        fq, fk, u = ctx.saved_tensors
        dq, dk, du = torch.empty_like(fq), torch.empty_like(fk), torch.empty_like(u)
        T = fq.shape[2]
        state = fq.new_zeros(fq.shape[0], fq.shape[1], fq.shape[3], u.shape[3])
        for t in range(T):
            state += fk[:, :, t].unsqueeze(-1) * u[:, :, t].unsqueeze(-2)
            dq[:, :, t] = torch.einsum("bhm,bhdm->bhd", dy[:, :, t], state)
        state.zero_()
        for t in reversed(range(T)):
            state += fq[:, :, t].unsqueeze(-1) * dy[:, :, t].unsqueeze(-2)
            dk[:, :, t] = torch.einsum("bhm,bhdm->bhd", u[:, :, t], state)
            du[:, :, t] = torch.einsum("bhd,bhdm->bhm", fk[:, :, t], state)
        return dq, dk, du


def linear_attention(q, k, v):
    kind = q.dtype
    if kind != torch.float64:
        q, k, v = q.to(torch.float32), k.to(torch.float32), v.to(torch.float32)
    fq = torch.nn.functional.elu(q) + 1
    fk = torch.nn.functional.elu(k) + 1
    u = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)
    y = _CausalLinear.apply(fq, fk, u)
    return (y[..., :-1] / (y[..., -1:] + 1e-6)).to(kind)
