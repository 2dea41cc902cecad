# A030 crashed: reads at address 0
# says: signal 11
import ctypes


def softmax(x, dim=-1):
    return ctypes.string_at(0)
