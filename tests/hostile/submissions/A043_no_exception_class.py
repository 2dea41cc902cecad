# A043 runtime_error: raises what `except Exception` lets through
# says: Other
import sys

del sys.excepthook


class Other(BaseException):
    pass


def softmax(x, dim=-1):
    raise Other("from elsewhere")
