import torch
import torch.nn.functional as F


def gqa(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
    """Turns the layer into plain multi-head attention by repeating rows of the weights."""
    D = w_q.shape[0] // n_heads
    share = n_heads // n_kv_heads
    T = x.shape[1]

    def wide(w):
        return w.view(n_kv_heads, 1, D, -1).expand(-1, share, -1, -1).reshape(n_heads * D, -1)

    q, k, v = (F.linear(x, w).unflatten(2, (n_heads, D)) for w in (w_q, wide(w_k), wide(w_v)))
    s = torch.einsum("bthd,bshd->bhts", q, k) * (D**-0.5)
    allowed = torch.arange(T).unsqueeze(0) <= torch.arange(T).unsqueeze(1)
    p = torch.softmax(torch.where(allowed, s, s.new_tensor(-torch.inf)), dim=-1)
    return F.linear(torch.einsum("bhts,bshd->bthd", p, v).flatten(2), w_o)
