import math

import torch


def fused_decode(q, k_cache, v_cache, lengths):
    batch_size = q.shape[0]
    num_heads = q.shape[1]
    head_dim = q.shape[3]
    num_kv_heads = k_cache.shape[1]
    group_size = num_heads // num_kv_heads
    output = torch.zeros(batch_size, num_heads, 1, head_dim, dtype=q.dtype)

    for b in range(batch_size):
        length = lengths[b].item()
        for h in range(num_heads):
            kv_head = h // group_size
            query = q[b, h, 0].to(torch.float64)
            # first pass: the largest score
            largest = -math.inf
            for start in range(0, length, 128):
                end = min(start + 128, length)
                scores = torch.mv(k_cache[0, kv_head, start:end].to(torch.float64), query)
                scores = scores / math.sqrt(head_dim)
                largest = max(largest, scores.max().item())
            # second pass: sums
            total = 0.0
            weighted = torch.zeros(head_dim, dtype=torch.float64)
            for start in range(0, length, 128):
                end = min(start + 128, length)
                scores = torch.mv(k_cache[0, kv_head, start:end].to(torch.float64), query)
                weights = torch.exp(scores / math.sqrt(head_dim) - largest)
                total += weights.sum().item()
                weighted += weights @ v_cache[0, kv_head, start:end].to(torch.float64)
            output[b, h, 0] = (weighted / total).to(q.dtype)
    return output


if __name__ == "__main__":
    q = torch.randn(2, 4, 1, 8)
    k, v = torch.randn(2, 2, 2, 10, 8)
    print(fused_decode(q, k, v, torch.tensor([10, 3])).shape)
