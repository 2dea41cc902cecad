import torch


def linear_attention(q, k, v):
    # a column of ones beside the values makes the normaliser one more value
    fq = q.double()
    fk = k.double()
    ve = torch.cat([v.double(), torch.ones_like(v[..., :1], dtype=torch.float64)], dim=-1)
    state = 0
    rows = []
    for qt, kt, vt in zip(fq.unbind(2), fk.unbind(2), ve.unbind(2)):
        state = state + torch.einsum("bhd,bhe->bhde", kt, vt)
        rows.append(torch.einsum("bhd,bhde->bhe", qt, state))
    y = torch.stack(rows, dim=2)
    return (y[..., :-1] / y[..., -1:]).to(v.dtype)
