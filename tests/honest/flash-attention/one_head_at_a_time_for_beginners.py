import torch
import math


def flash_attention(q, k, v, block_size, causal=False):
    B, H, T, D = q.shape
    S = k.shape[2]
    print(f"{B=} {H=} {T=} {S=} {D=} {block_size=}")
    result = torch.zeros(B, H, T, D)

    number_of_query_blocks = math.ceil(T / block_size)
    number_of_key_blocks = math.ceil(S / block_size)

    for b in range(B):
        for h in range(H):
            Q = q[b, h].float()
            K = k[b, h].float()
            V = v[b, h].float()
            for qb in range(number_of_query_blocks):
                q_start = qb * block_size
                q_end = min(q_start + block_size, T)
                Q_block = Q[q_start:q_end]
                rows = q_end - q_start

                # things to remember for every row
                running_max = torch.full((rows,), -float("inf"))
                running_sum = torch.zeros(rows)
                running_out = torch.zeros(rows, D)

                for kb in range(number_of_key_blocks):
                    k_start = kb * block_size
                    k_end = min(k_start + block_size, S)
                    scores = torch.mm(Q_block, K[k_start:k_end].t()) / math.sqrt(D)

                    if causal:
                        query_positions = torch.arange(q_start, q_end) + (S - T)
                        key_positions = torch.arange(k_start, k_end)
                        allowed = key_positions.view(1, -1) <= query_positions.view(-1, 1)
                        if not allowed.any():
                            continue
                        scores = torch.where(allowed, scores, torch.tensor(-float("inf")))

                    block_max = scores.max(dim=1)[0]
                    new_max = torch.maximum(running_max, block_max)
                    # step 1: shrink what we had
                    correction = torch.exp(running_max - new_max)
                    running_sum = running_sum * correction
                    running_out = running_out * correction.view(-1, 1)
                    # step 2: add the new block
                    weights = torch.exp(scores - new_max.view(-1, 1))
                    running_sum = running_sum + weights.sum(dim=1)
                    running_out = running_out + torch.mm(weights, V[k_start:k_end])
                    running_max = new_max

                result[b, h, q_start:q_end] = running_out / running_sum.view(-1, 1)

    return result.to(q.dtype)
