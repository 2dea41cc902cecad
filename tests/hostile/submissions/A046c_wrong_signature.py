# A046 runtime_error: takes keyword arguments alone
def softmax(*, x, dim):
    return x
