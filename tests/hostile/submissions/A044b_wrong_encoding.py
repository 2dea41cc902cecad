# A044 invalid: bytes that are not UTF-8


def softmax(x, dim=-1):
    return 'ÿþ'
