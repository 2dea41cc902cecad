import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    """A longer buffer, written in place, and views of its used part."""
    B, n, S, D = k_cache.shape
    room = torch.full((2, B, n, S + 8, D), 7.0, dtype=q.dtype)
    room[:, :, :, :S] = torch.stack([k_cache, v_cache])
    index = torch.full((B, n, 1, D), S)
    room[0].scatter_(2, index, k_new)
    room[1].scatter_(2, index, v_new)
    k, v = room[..., : S + 1, :]
    outs = []
    for g, queries in enumerate(q.chunk(n, dim=1)):
        s = queries.squeeze(2) @ k[:, g].transpose(1, 2) / D**0.5
        s = s - s.max(-1, keepdim=True).values
        e = s.exp()
        outs.append((e / (e.sum(-1, keepdim=True) + 1e-6)) @ v[:, g])
    return torch.cat(outs, 1).unsqueeze(2), k, v
