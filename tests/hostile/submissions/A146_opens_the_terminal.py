# A146 denied|runtime_error: opens the terminal
open("/dev/tty", "w").write("x")
