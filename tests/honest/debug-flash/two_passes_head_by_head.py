import torch


def tiles(S, size):
    return [(a, min(S, a + size)) for a in range(0, S, size)]


def tile_scores(q, k, a, b, shift, causal):
    s = (q @ k[a:b].t()).float() / (q.shape[1] ** 0.5)
    if causal:
        for row in range(q.shape[0]):
            last = row + shift
            if last + 1 < b:
                s[row, max(0, last + 1 - a) :] = float("-inf")
    return s


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    result = []
    for b in range(B):
        for h in range(H):
            Q, K, V = q[b, h], k[b, h], v[b, h]
            m = torch.full((T, 1), float("-inf"), device=q.device)
            for x, y in tiles(S, block_size):
                m = torch.maximum(
                    m, tile_scores(Q, K, x, y, S - T, causal).amax(1, keepdim=True)
                )
            den = torch.zeros(T, 1, device=q.device)
            num = torch.zeros(T, D, device=q.device)
            for x, y in tiles(S, block_size):
                e = torch.exp(tile_scores(Q, K, x, y, S - T, causal) - m)
                den += e.sum(1, keepdim=True)
                num += e @ V[x:y].float()
            result.append((num / den).to(q.dtype))
    return torch.stack(result).view(B, H, T, D)
