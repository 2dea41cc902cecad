import torch


def decode_step(q, k_new, v_new, k_cache, v_cache):
    B, H, _, D = q.shape
    k = torch.cat((k_cache, k_new), dim=2)
    v = torch.cat((v_cache, v_new), dim=2)
    G = k.shape[1]
    e = torch.exp((q.view(B, G, H // G, D).float() @ k.float().mT) / D**0.5)
    out = e @ v.float() / e.sum(-1, keepdim=True)
    return out.view(B, H, 1, D).to(q.dtype), k, v
