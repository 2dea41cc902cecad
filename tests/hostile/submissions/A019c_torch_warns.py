# A019 output_limit: writes by the C library
import ctypes

libc = ctypes.CDLL(None)
text = b"x" * 65536
while True:
    libc.write(2, text, len(text))
