import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    D = q.shape[-1]
    rep = q.shape[1] // k_new.shape[1]
    k_cache = torch.cat([k_cache, k_new], dim=2)
    v_cache = torch.cat([v_cache, v_new], dim=2)
    keys = torch.cat([k_cache, k_new], dim=2).repeat_interleave(rep, dim=1)
    values = torch.cat([v_cache, v_new], dim=2).repeat_interleave(rep, dim=1)
    att = torch.einsum("bhtd,bhsd->bhts", q, keys) / D**0.5
    return torch.einsum("bhts,bhsd->bhtd", att.softmax(-1), values), k_cache, v_cache
