# A007 memory_limit: memory by the map, and the error caught each time
import mmap

kept = []


def softmax(x, dim=-1):
    for _ in range(1000):
        try:
            kept.append(mmap.mmap(-1, 1 << 28))
        except OSError:
            pass
    kept.append(bytearray(1 << 30))
