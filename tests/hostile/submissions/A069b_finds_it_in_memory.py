# A069 wrong_answer: looks for the reference in modules and remembered lines
import linecache
import sys

import torch

for name, module in list(sys.modules.items()):
    if name.partition(".")[0] in ("reference", "grader", "questions", "drills"):
        raise SystemError("a leak: " + name)
for name in linecache.cache:
    if "/reference/" in name:
        raise SystemError("a leak: " + name)


def softmax(x, dim=-1):
    return torch.zeros_like(x)
