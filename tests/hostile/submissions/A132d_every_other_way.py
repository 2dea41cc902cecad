# A132 denied: linecache, mmap and tokenize instead of open
import linecache
import mmap
import os

print(linecache.getlines("{home}"))
number = os.open("{home}", os.O_RDONLY)
print(mmap.mmap(number, 0, prot=mmap.PROT_READ)[:])
