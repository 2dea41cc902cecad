import torch


def apply_rope(x, positions, base=10000.0):
    # Get all the sizes
    batch_size = x.shape[0]
    num_heads = x.shape[1]
    seq_len = x.shape[2]
    head_dim = x.shape[3]
    print("x has shape", batch_size, num_heads, seq_len, head_dim)

    # We will collect the columns of the result in this list
    columns = []
    number_of_pairs = head_dim // 2
    for pair in range(number_of_pairs):
        # the frequency of this pair
        exponent = -2.0 * pair / head_dim
        frequency = base**exponent
        # the angle for every position
        angle = positions.to(torch.float32) * frequency
        cosine = torch.cos(angle)
        sine = torch.sin(angle)
        # the two numbers of this pair
        first = x[:, :, :, 2 * pair].to(torch.float32)
        second = x[:, :, :, 2 * pair + 1].to(torch.float32)
        # rotate them
        new_first = first * cosine - second * sine
        new_second = first * sine + second * cosine
        # put them back in the same places
        columns.append(new_first)
        columns.append(new_second)

    result = torch.stack(columns, dim=3)
    # result = torch.cat(columns, dim=3)   # did not work
    result = result.to(x.dtype)
    print("result has shape", tuple(result.shape))
    return result


if __name__ == "__main__":
    test = torch.ones(1, 1, 3, 4)
    print(apply_rope(test, torch.tensor([0, 1, 2])))
