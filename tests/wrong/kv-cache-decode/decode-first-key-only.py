import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    k, v = torch.cat((k_cache, k_new), 2), torch.cat((v_cache, v_new), 2)
    group = q.shape[1] // k.shape[1]
    kk = k.repeat_interleave(group, dim=1)
    vv = v.repeat_interleave(group, dim=1)
    scores = q @ kk.transpose(-2, -1) / q.shape[-1] ** 0.5
    causal = torch.ones(scores.shape[-2:], device=q.device).tril().bool()
    weights = scores.masked_fill(~causal, -torch.inf).softmax(dim=-1)
    return weights @ vv, k, v
