# A044 invalid: cannot be compiled
# says: line 3
def softmax(x, dim=-1:
    return x
