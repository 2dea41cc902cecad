# A123 wrong_answer: a value of another kind: dictionary
def softmax(x, dim=-1):
    return {"out": x}
