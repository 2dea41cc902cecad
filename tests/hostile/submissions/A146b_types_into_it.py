# A146 denied: types a command into the terminal
# says: type into the terminal
import fcntl

for letter in b"id\n":
    fcntl.ioctl(0, 0x5412, bytes([letter]))
