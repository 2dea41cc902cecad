# A128 denied: waits for a connection
# says: open a network connection
import socket

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
