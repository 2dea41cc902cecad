# A019 output_limit: warnings without end
# says: printed more
import warnings

warnings.simplefilter("always")


def softmax(x, dim=-1):
    while True:
        warnings.warn("w" * 4096)
