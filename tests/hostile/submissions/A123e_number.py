# A123 wrong_answer: a value of another kind: number
def softmax(x, dim=-1):
    return 1.0
