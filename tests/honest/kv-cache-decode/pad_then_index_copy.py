from __future__ import annotations

import torch as th
import torch.nn.functional as F
from torch import Tensor


def decode_step(
    q: Tensor, k_new: Tensor, v_new: Tensor, k_cache: Tensor, v_cache: Tensor
) -> list[Tensor]:
    at = th.tensor([k_cache.size(2)])
    k = F.pad(k_cache, (0, 0, 0, 1)).index_copy(2, at, k_new)
    v = F.pad(v_cache, (0, 0, 0, 1)).index_copy(2, at, v_new)
    groups = q.unflatten(1, (k.size(1), -1)).squeeze(3)  # (B, H_kv, G, D)
    s = groups.float() @ k.float().mT / q.size(-1) ** 0.5
    out = F.softmax(s, dim=-1) @ v.float()
    return [out.flatten(1, 2).unsqueeze(2).to(q.dtype), k, v]
