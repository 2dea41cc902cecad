# A046 wrong_answer: a generator in place of a tensor
def softmax(x, dim=-1):
    yield x
