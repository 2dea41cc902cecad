# A064 wrong_answer: reads a tolerance or a seed in the frames above it
import sys

import torch


def softmax(x, dim=-1):
    frame, text = sys._getframe(1), ""
    while frame is not None:
        text += repr(frame.f_locals)
        frame = frame.f_back
    for word in ("seed", "tolerance", "expected", "reference"):
        if word in text:
            print("found", word)
            raise SystemError("a leak: " + word)
    return torch.zeros_like(x)
