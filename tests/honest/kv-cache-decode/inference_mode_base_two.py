import torch


@torch.inference_mode()
def decode_step(q, k_new, v_new, k_cache, v_cache):
    k = torch.cat([k_cache, k_new], dim=2)
    v = torch.cat([v_cache, v_new], dim=2)
    B, H, _, D = q.shape
    q4 = q.reshape(B, k.shape[1], -1, D).float()
    s = torch.matmul(q4, k.float().transpose(2, 3)) * (1.4426950408889634 * D**-0.5)
    p = torch.exp2(s - s.amax(3, keepdim=True))
    out = torch.matmul(p, v.float()) / p.sum(3, keepdim=True)
    return out.view(B, H, 1, D).to(q.dtype), k, v
