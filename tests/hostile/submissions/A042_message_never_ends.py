# A042 time_limit: an exception whose text takes forever
class Endless(Exception):
    def __str__(self):
        while True:
            pass

    __repr__ = __str__


def softmax(x, dim=-1):
    raise Endless
