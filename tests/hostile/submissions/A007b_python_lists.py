# A007 memory_limit@2: memory taken by Python, and the error caught each time
kept = []


def softmax(x, dim=-1):
    while True:
        try:
            kept.append(bytearray(1 << 28))
        except MemoryError:
            raise MemoryError("again and again") from None
