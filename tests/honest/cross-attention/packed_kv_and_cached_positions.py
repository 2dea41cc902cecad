import torch

_POSITIONS = {}  # (S, device) -> 0 .. S-1


def _positions(s, device):
    key = (s, device)
    if key not in _POSITIONS:
        _POSITIONS[key] = torch.arange(s, device=device)
    return _POSITIONS[key]


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    (B, T, d), S = x.shape, context.shape[1]
    kv = context @ torch.cat([w_k, w_v]).T  # one matrix product for both
    k, v = kv.view(B, S, 2, n_heads, d // n_heads).permute(2, 0, 3, 1, 4)
    q = (x @ (w_q / (d // n_heads) ** 0.5).T).view(B, T, n_heads, -1).transpose(1, 2)
    a = k @ q.mT  # (B, H, S, T): keys in rows, so softmax goes over -2
    if context_lengths is not None:
        seen = _positions(S, x.device)[None] < context_lengths[:, None]
        a = a + torch.zeros_like(seen, dtype=a.dtype).masked_fill(~seen, -torch.inf)[:, None, :, None]
    a = a.softmax(-2)
    return (a.mT @ v).transpose(1, 2).flatten(2) @ w_o.T


if __name__ == "__main__":
    torch.manual_seed(0)
    w = [torch.randn(8, 8) for _ in range(4)]
    y = cross_attention(torch.randn(2, 3, 8), torch.randn(2, 5, 8), *w, 2, torch.tensor([5, 2]))
    print(y.shape, y.isfinite().all())
