# A042 runtime_error: an exception with 4 MB of text
def softmax(x, dim=-1):
    raise ValueError("m" * (4 << 20))
