import torch
from torch import Tensor


def paged_decode(q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor) -> Tensor:
    """Column j of the table for the whole batch at once, running maximum and sum in float32."""
    B, H, _, D = q.shape
    page, N = k_pages.shape[1], k_pages.shape[2]
    lowest = torch.finfo(torch.float32).min
    qg = q.float().reshape(B, N, H // N, D) * D**-0.5
    m = torch.full((B, N, H // N, 1), lowest, device=q.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(qg)
    slot = torch.arange(page, device=q.device)
    for j, ids in enumerate(block_table.unbind(1)):
        ids = torch.where(ids < 0, torch.zeros_like(ids), ids)
        k, v = k_pages.index_select(0, ids).float(), v_pages.index_select(0, ids).float()  # (B, page, N, D)
        live = (j * page + slot < lengths[:, None])[:, None, None, :]  # (B, 1, 1, page)
        s = torch.einsum("bngd,bpnd->bngp", qg, k).masked_fill(~live, lowest)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        # a page without a live slot would get exp(0) = 1 here, so the weights are repaired
        p = torch.exp(s - m_new) * live
        keep = torch.exp(m - m_new)
        l = l * keep + p.sum(-1, keepdim=True)
        o = o * keep + torch.einsum("bngp,bpnd->bngd", p, v)
        m = m_new
    return (o / l).reshape(B, H, 1, D).to(q.dtype)
