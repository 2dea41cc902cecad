import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    """Chunks of `window` queries; each needs only its own chunk of keys and the previous."""
    B, H, T, D = q.shape
    w = min(window, T)
    n = -(-T // w)
    dtype, inner = q.dtype, torch.promote_types(q.dtype, torch.float32)

    def chunks(x, before):
        return F.pad(x.to(inner), (0, 0, before, n * w - T))

    queries = chunks(q, 0).view(B, H, n, w, D)
    keys = chunks(k, w).view(B, H, n + 1, w, D)
    values = chunks(v, w).view(B, H, n + 1, w, D)
    keys = torch.cat([keys[:, :, :-1], keys[:, :, 1:]], dim=3)        # (B, H, n, 2w, D)
    values = torch.cat([values[:, :, :-1], values[:, :, 1:]], dim=3)  # (B, H, n, 2w, D)

    query_at = torch.arange(n * w).view(n, w, 1)
    key_at = (torch.arange(n)[:, None] - 1).mul(w).add(torch.arange(2 * w)).view(n, 1, 2 * w)
    # padded queries past T see zero keys past T; they are cut off at the end
    see = (key_at >= 0) & (key_at <= query_at) & (key_at > query_at - w)

    s = (queries @ keys.mT * D**-0.5).masked_fill(~see, -torch.inf)
    out = s.softmax(-1) @ values
    return out.reshape(B, H, n * w, D)[:, :, :T].to(dtype)
