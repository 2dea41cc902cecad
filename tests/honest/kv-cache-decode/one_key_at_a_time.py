import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    """Online softmax, newest key first."""
    G = q.shape[1] // k_new.shape[1]
    D = q.shape[-1]
    k, v = torch.cat([k_cache, k_new], 2), torch.cat([v_cache, v_new], 2)
    wide_k = k.float().unsqueeze(2).expand(-1, -1, G, -1, -1).flatten(1, 2)
    wide_v = v.float().unsqueeze(2).expand(-1, -1, G, -1, -1).flatten(1, 2)
    query = q.float()[:, :, 0] / D**0.5
    top = torch.full(query.shape[:2], float("-inf"))
    total = torch.zeros_like(top)
    mix = torch.zeros_like(query)
    for s in range(k.shape[2] - 1, -1, -1):
        score = (query * wide_k[:, :, s]).sum(-1)
        new = torch.max(top, score)
        old, fresh = (top - new).exp_(), (score - new).exp_()
        total.mul_(old).add_(fresh)
        mix.mul_(old[..., None]).add_(fresh[..., None] * wide_v[:, :, s])
        top = new
    return (mix / total[..., None])[:, :, None].to(q.dtype), k, v
