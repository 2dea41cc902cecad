# A123 wrong_answer: a value of another kind: list
def softmax(x, dim=-1):
    return x.tolist()
