# A045 invalid: defines another function
# says: no `softmax`
def soft_max(x, dim=-1):
    return x
