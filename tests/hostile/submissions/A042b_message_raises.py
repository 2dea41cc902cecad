# A042 runtime_error: an exception whose text raises another
class Evil(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def softmax(x, dim=-1):
    raise Evil
