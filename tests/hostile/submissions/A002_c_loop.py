# A002 time_limit: a loop in C that no Python signal handler interrupts
import signal

for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)


def softmax(x, dim=-1):
    return sum(range(10**12))
