# A134 denied: would see the names of the files that others use
# says: watch what others do
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init()
if watch < 0:
    raise OSError(ctypes.get_errno(), "inotify_init")
libc.inotify_add_watch(watch, b"{folder}", 0xFFF)
