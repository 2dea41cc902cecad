# A051 wrong_answer|crashed|time_limit: megabytes on the channel
import os


def softmax(x, dim=-1):
    while True:
        os.write(3, b"R" * 65536)
