# A138 wrong_answer: unlink, rename and rmdir by the C library
import ctypes

import torch

libc = ctypes.CDLL(None, use_errno=True)
done = [
    libc.unlink(b"{canary}"),
    libc.rename(b"{canary}", b"{folder}/renamed"),
    libc.rename(b"{canary}", b"taken"),
    libc.rmdir(b"{folder}"),
    libc.link(b"{canary}", b"{folder}/second"),
    libc.symlink(b"/etc/passwd", b"{folder}/link"),
    libc.mkdir(b"{folder}/new", 0o777),
]
if any(result == 0 for result in done):
    raise SystemError(f"a leak: {done}")


def softmax(x, dim=-1):
    return torch.zeros_like(x)
