import torch
from torch import nn


class PagedDecoder(nn.Module):
    """Pages from the last to the first; -1 reads page -1, whose scores are hidden anyway."""

    def forward(self, q, k_pages, v_pages, block_table, lengths):
        B, H, _, D = q.shape
        page, N = k_pages.shape[1], k_pages.shape[2]
        wide = torch.float64 if q.dtype is torch.float64 else torch.float32
        x = q.reshape(B, N, H // N, D).to(wide)
        o = torch.zeros_like(x)
        l = x.new_zeros(B, N, H // N, 1)
        m = torch.full_like(l, float("-inf"))
        for j in reversed(range(block_table.shape[1])):
            index = block_table[:, j]
            if not bool((lengths >= j * page).any()):
                continue
            s = torch.einsum("bngd,bpnd->bngp", x, k_pages[index].to(wide)) * (1 / D**0.5)
            seen = j * page + torch.arange(page, device=q.device) <= lengths[:, None]
            s = torch.where(seen[:, None, None], s, float("-inf"))
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            finite = torch.nan_to_num(m_new, neginf=0.0)
            s.sub_(finite).exp_()
            fade = torch.exp(m - finite)
            l.mul_(fade).add_(s.sum(-1, keepdim=True))
            o.mul_(fade).add_(torch.einsum("bngp,bpnd->bngd", s, v_pages[index].to(wide)))
            m = m_new
        return o.div_(l).view(B, H, 1, D).to(q.dtype)


decode = PagedDecoder()


def paged_decode(q, k_pages, v_pages, block_table, lengths):
    return decode(q, k_pages, v_pages, block_table, lengths)
