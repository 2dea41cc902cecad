import torch


def softmax(x):
    x = x - x.max(dim=-1, keepdim=True).values
    e = torch.exp(x)
    return e / e.sum(dim=-1, keepdim=True)


def mqa(q, k, v):
    n_q, n_k = q.shape[2], k.shape[2]
    qf, kf, vf = q.float(), k.float(), v.float()
    logits = (qf * kf.shape[2] ** -0.5) @ kf.transpose(2, 3)
    query_pos = torch.arange(n_q, device=q.device) + (n_k - n_q)
    key_pos = torch.arange(n_k, device=q.device)
    see = key_pos[None, :] <= query_pos[:, None]
    logits = torch.where(see, logits, float("-inf"))
    p = softmax(logits)
    return (p @ vf).to(q.dtype)
