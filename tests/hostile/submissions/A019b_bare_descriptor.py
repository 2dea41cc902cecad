# A019 output_limit: writes to descriptor 2, past sys.stderr
import os

while True:
    os.write(2, b"x" * 65536)
