# A092 time_limit: clocks that stand still while it never ends
import time

import torch

for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    setattr(time, name, lambda: 0.0)


def softmax(x, dim=-1):
    while True:
        x = x + 0
