# A073 denied: half of a pair of sockets, which can be sent to any address
# says: network
import socket

near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for address in ("{datagrams}", "\0{mark}-datagrams"):
    near.sendto(b"hello", address)
