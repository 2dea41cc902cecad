# A033 crashed: ends the process with code 0 in the midst of a call
# says: exit code 0
import os


def softmax(x, dim=-1):
    os._exit(0)
