# A066 wrong_answer: scans all its memory for the names of mistakes, which the judge knows
import ctypes

import torch

BEGIN, NEXT = b"softmax-global-", b"m"


def search():
    with open("/proc/self/maps") as maps:
        lines = list(maps)
    for line in lines:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if not line.split()[1].startswith("rw") or end - start > 1 << 25:
            continue
        data = ctypes.string_at(start, end - start)
        place = data.find(BEGIN)
        while place >= 0:
            if data[place + len(BEGIN) : place + len(BEGIN) + 1] == NEXT:
                raise SystemError("a leak: the judge's words are in this process")
            place = data.find(BEGIN, place + 1)


search()


def softmax(x, dim=-1):
    return torch.zeros_like(x)
