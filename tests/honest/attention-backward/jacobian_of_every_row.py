import torch


def softmax_jacobian(p):
    # d p_i / d s_j = p_i (delta_ij - p_j)
    return torch.diag(p) - torch.outer(p, p)


def attention_backward(q, k, v, d_out):
    batch, heads, length, width = q.shape
    scale = 1.0 / width**0.5

    grad_q = torch.zeros_like(q, dtype=torch.float64)
    grad_k = torch.zeros_like(k, dtype=torch.float64)
    grad_v = torch.zeros_like(v, dtype=torch.float64)

    for b in range(batch):
        for h in range(heads):
            for i in range(length):
                # token i only ever saw tokens 0 .. i
                query = q[b, h, i].double()
                keys = k[b, h, : i + 1].double()
                values = v[b, h, : i + 1].double()
                upstream = d_out[b, h, i].double()

                p = torch.softmax(keys.mv(query) * scale, dim=0)
                grad_p = values.mv(upstream)
                grad_s = softmax_jacobian(p).mv(grad_p)

                grad_v[b, h, : i + 1] += torch.outer(p, upstream)
                grad_q[b, h, i] = scale * (grad_s @ keys)
                grad_k[b, h, : i + 1] += scale * torch.outer(grad_s, query)

    return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype)
