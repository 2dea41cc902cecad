import torch


def merge_attention(o_a, lse_a, o_b, lse_b):
    # mix the two outputs
    weighted_a = lse_a.unsqueeze(-1) * o_a
    weighted_b = lse_b.unsqueeze(-1) * o_b
    merged_output = (weighted_a + weighted_b) / (lse_a + lse_b).unsqueeze(-1)

    # the log-sum-exp over the union
    merged_lse = torch.logaddexp(lse_a, lse_b)
    return merged_output, merged_lse
