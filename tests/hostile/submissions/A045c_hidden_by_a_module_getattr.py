# A045 invalid: the name is made up when it is looked for
def __getattr__(name):
    return lambda x, dim=-1: x
