# A045 invalid: a class in place of the function
# says: is not a function
class softmax:
    pass
