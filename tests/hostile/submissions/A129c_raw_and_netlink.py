# A129 denied: other families of sockets
# says: open a network connection
import socket

for family, kind in ((socket.AF_NETLINK, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind)
    except PermissionError as error:
        last = error
raise last
