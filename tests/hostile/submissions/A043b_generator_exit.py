# A043 runtime_error: raises GeneratorExit and KeyboardInterrupt
def softmax(x, dim=-1):
    try:
        raise KeyboardInterrupt
    finally:
        raise GeneratorExit
