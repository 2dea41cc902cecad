# A073 denied: connects to an abstract socket
# says: network
import socket

channel = socket.socket(socket.AF_UNIX)
channel.connect("\0{mark}")
channel.send(b"hello")
