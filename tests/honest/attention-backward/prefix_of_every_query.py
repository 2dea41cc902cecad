import torch
from torch import Tensor


def attention_backward(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One query position at a time, only the keys it saw, so there is no mask at all."""
    work = torch.promote_types(q.dtype, torch.float32)
    qs = q.to(work) / q.shape[-1] ** 0.5  # the scale lives in the queries
    kf, vf, g = k.to(work), v.to(work), d_out.to(work)
    d_qs: list[Tensor] = []
    d_k, d_v = torch.zeros_like(kf), torch.zeros_like(vf)
    for n, (row, g_row) in enumerate(zip(qs.unbind(2), g.unbind(2)), start=1):
        keys, values = kf[:, :, :n], vf[:, :, :n]
        log_p = torch.log_softmax((keys * row[:, :, None]).sum(-1), dim=-1)
        p = log_p.exp()[..., None]  # (B, H, n, 1)
        out = (p * values).sum(2)
        # sum_j p_j dp_j is the inner product of the output with its gradient
        dot = (out * g_row).sum(-1)[..., None, None]
        d_s = p * ((values * g_row[:, :, None]).sum(-1, keepdim=True) - dot)
        d_v[:, :, :n].addcmul_(p, g_row[:, :, None])
        d_k[:, :, :n].addcmul_(d_s, row[:, :, None])
        d_qs.append((d_s * keys).sum(2))
    d_q = torch.stack(d_qs, 2) / q.shape[-1] ** 0.5
    return d_q.to(q.dtype), d_k.to(q.dtype), d_v.to(q.dtype)


if __name__ == "__main__":
    a = [torch.randn(1, 2, 5, 3, dtype=torch.float64) for _ in range(4)]
    for name, grad in zip(("d_q", "d_k", "d_v"), attention_backward(*a)):
        print(name, grad.norm().item())
