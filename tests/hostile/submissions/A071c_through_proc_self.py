# A071 denied: goes out by /proc/self/root and /proc/self/cwd
print(open("/proc/self/root{canary}").read())
