# A129 denied: a datagram
# says: open a network connection
import socket

channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
channel.sendto(b"x", ("127.0.0.1", int("{udp}")))
