# A123 wrong_answer: a value of another kind: tuple
def softmax(x, dim=-1):
    return (x, x)
