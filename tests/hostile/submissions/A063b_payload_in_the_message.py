# A063 runtime_error: an exception with a pickle in its arguments
class Payload(Exception):
    def __reduce__(self):
        return (exec, ("open('{canary}', 'w').write('unpickled')",))


def softmax(x, dim=-1):
    raise Payload("text")
