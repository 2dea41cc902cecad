import torch


def cross_attention(x, context, w_q, w_k, w_v, w_o, n_heads, context_lengths=None):
    # How big is everything?
    batch_size = x.shape[0]
    model_width = x.shape[2]
    source_length = context.shape[1]
    head_width = model_width // n_heads

    outputs = []
    for b in range(batch_size):
        # 1. only keep the real (not padded) part of the context of this sequence
        if context_lengths is None:
            length = source_length
        else:
            length = int(context_lengths[b])
        source = context[b, 0:length, :]

        # 2. one head after the other
        total = None
        for h in range(n_heads):
            first = h * head_width
            last = first + head_width
            # a head owns some ROWS of w_q, w_k and w_v ...
            query = torch.matmul(x[b], w_q[first:last, :].transpose(0, 1))
            key = torch.matmul(source, w_k[first:last, :].transpose(0, 1))
            value = torch.matmul(source, w_v[first:last, :].transpose(0, 1))

            scores = torch.matmul(query, key.transpose(0, 1))
            scores = scores / (head_width**0.5)
            weights = torch.softmax(scores, dim=1)
            mixed = torch.matmul(weights, value)

            # ... and some COLUMNS of w_o, so the heads can be summed up
            part = torch.matmul(mixed, w_o[:, first:last].transpose(0, 1))
            if total is None:
                total = part
            else:
                total = total + part
        outputs.append(total)

    # print(outputs[0].shape)
    result = torch.stack(outputs, dim=0)
    return result
