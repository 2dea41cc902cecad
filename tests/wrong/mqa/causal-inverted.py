import torch


def mqa(q, k, v):
    n_q, n_k = q.shape[2], k.shape[2]
    qf, kf, vf = q.float(), k.float(), v.float()
    logits = (qf * q.shape[3] ** -0.5) @ kf.transpose(2, 3)
    query_pos = torch.arange(n_q, device=q.device) + (n_k - n_q)
    key_pos = torch.arange(n_k, device=q.device)
    see = key_pos[None, :] <= query_pos[:, None]
    logits = logits.masked_fill(see, float("-inf"))
    p = logits.softmax(dim=-1)
    return (p @ vf).to(q.dtype)
