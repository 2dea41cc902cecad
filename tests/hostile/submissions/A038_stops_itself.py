# A038 time_limit: stops its own process
import os
import signal


def softmax(x, dim=-1):
    os.kill(os.getpid(), signal.SIGSTOP)
