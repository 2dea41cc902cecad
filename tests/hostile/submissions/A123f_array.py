# A123 wrong_answer: a value of another kind: array
def softmax(x, dim=-1):
    return x.float().numpy()
