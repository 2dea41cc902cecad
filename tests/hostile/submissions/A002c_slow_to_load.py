# A002 time_limit: most of the limit goes by while it is loaded, in every process anew
# says: loading the file alone took
import time

time.sleep(0.9)


def softmax(x, dim=-1):
    time.sleep(0.8)
    return x
