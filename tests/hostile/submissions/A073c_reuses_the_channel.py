# A073 wrong_answer|crashed|denied: makes a socket out of its channel and connects that
import socket

channel = socket.socket(fileno=3)
channel.connect("{socket}")


def softmax(x, dim=-1):
    return x * 0
