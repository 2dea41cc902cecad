# A073 denied: connects to a socket in the file system, as that of a daemon
# says: network
import socket

channel = socket.socket(socket.AF_UNIX)
channel.connect("{socket}")
channel.send(b"hello")
