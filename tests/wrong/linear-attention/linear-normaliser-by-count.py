import torch
import torch.nn.functional as F


def linear_attention(q, k, v):
    fq = 1 + F.elu(q.double())
    fk = 1 + F.elu(k.double())
    state = 0
    rows = []
    for qt, kt, vt in zip(fq.unbind(2), fk.unbind(2), v.double().unbind(2)):
        state = state + torch.einsum("bhd,bhe->bhde", kt, vt)
        rows.append(torch.einsum("bhd,bhde->bhe", qt, state))
    y = torch.stack(rows, dim=2)
    seen = torch.arange(1, y.shape[2] + 1, device=y.device)
    return (y / seen[:, None]).to(v.dtype)
