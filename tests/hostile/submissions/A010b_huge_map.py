# A010 memory_limit: the same by mmap
import mmap

held = mmap.mmap(-1, 1 << 42)
