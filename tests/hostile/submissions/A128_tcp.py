# A128 denied: a TCP connection
# says: open a network connection
import socket

socket.create_connection(("127.0.0.1", int("{port}"))).send(b"x")
