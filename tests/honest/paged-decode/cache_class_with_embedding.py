from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class PagedCache:
    k_pages: torch.Tensor
    v_pages: torch.Tensor
    block_table: torch.Tensor
    lengths: torch.Tensor

    def _look_up(self, pages):
        P, page, N, D = pages.shape
        used = self.block_table.masked_fill(self.block_table.lt(0), 0)
        # a page is a "word", its content a long vector
        flat = F.embedding(used, pages.reshape(P, -1))
        return flat.view(used.shape[0], used.shape[1] * page, N, D)

    def keys(self):
        return self._look_up(self.k_pages).permute(0, 2, 3, 1)  # (B, N, D, S)

    def values(self):
        return self._look_up(self.v_pages).permute(0, 2, 1, 3)  # (B, N, S, D)

    def hidden(self):
        total = self.block_table.shape[1] * self.k_pages.shape[1]
        return torch.arange(total, device=self.lengths.device)[None] >= self.lengths[:, None]


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    cache = PagedCache(k_pages, v_pages, block_table, lengths)
    B, H, _, D = q.shape
    N = k_pages.shape[2]
    grouped = q.view(B, N, H // N, D)
    s = torch.matmul(grouped, cache.keys()) * (D**-0.5)
    s[cache.hidden()[:, None, None].expand_as(s)] = -torch.inf
    weights = F.log_softmax(s, dim=-1).exp()
    out = torch.matmul(weights, cache.values())
    # print("attended to", lengths.tolist(), "keys")
    return out.view(B, H, 1, D)
