import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    # the largest log-sum-exp, for stability
    maximum = torch.maximum(lse_a.max(), lse_b.max())

    # how much each part counts
    weight_a = torch.exp(lse_a - maximum)
    weight_b = torch.exp(lse_b - maximum)
    weight_sum = weight_a + weight_b

    # mix the two outputs
    weighted_a = weight_a.unsqueeze(-1) * o_a
    weighted_b = weight_b.unsqueeze(-1) * o_b
    merged_output = (weighted_a + weighted_b) / weight_sum.unsqueeze(-1)

    # the log-sum-exp over the union
    merged_lse = maximum + torch.log(weight_sum)
    return merged_output, merged_lse
