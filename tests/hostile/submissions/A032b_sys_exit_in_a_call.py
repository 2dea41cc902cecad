# A032 runtime_error: sys.exit(0) in a call
# says: SystemExit
import sys


def softmax(x, dim=-1):
    sys.exit(0)
