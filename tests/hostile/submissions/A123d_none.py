# A123 wrong_answer: a value of another kind: none
def softmax(x, dim=-1):
    return None
