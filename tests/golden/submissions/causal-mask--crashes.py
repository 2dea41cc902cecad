import os


def causal_mask(t, s):
    os._exit(3)
