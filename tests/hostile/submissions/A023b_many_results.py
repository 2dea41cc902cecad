# A023 wrong_answer: returns a million values
def softmax(x, dim=-1):
    return [x] * 10**6
