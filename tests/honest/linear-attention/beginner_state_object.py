from dataclasses import dataclass

import torch


@dataclass
class Memory:
    """What one head of one sequence remembers."""

    keys_times_values: torch.Tensor
    keys: torch.Tensor

    def write(self, key, value):
        self.keys_times_values = self.keys_times_values + torch.outer(key, value)
        self.keys = self.keys + key

    def read(self, query):
        numerator = query @ self.keys_times_values
        denominator = torch.dot(query, self.keys)
        return numerator / denominator


def feature_map(x):
    return torch.nn.functional.elu(x) + 1.0


def linear_attention(q, k, v):
    batch, heads, length, width = q.shape
    value_width = v.shape[3]
    all_batches = []
    for b in range(batch):
        all_heads = []
        for h in range(heads):
            memory = Memory(
                torch.zeros(width, value_width, dtype=q.dtype, device=q.device),
                torch.zeros(width, dtype=q.dtype, device=q.device),
            )
            all_rows = []
            for t in range(length):
                memory.write(feature_map(k[b, h, t]), v[b, h, t])
                all_rows.append(memory.read(feature_map(q[b, h, t])))
            all_heads.append(torch.stack(all_rows))
        all_batches.append(torch.stack(all_heads))
    return torch.stack(all_batches)
