# A132 denied: opens by handle, past every folder
# says: change the system
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(128)
if libc.name_to_handle_at(-100, b"{home}", handle, ctypes.byref(ctypes.c_int()), 0) < 0:
    raise OSError(ctypes.get_errno(), "name_to_handle_at")
