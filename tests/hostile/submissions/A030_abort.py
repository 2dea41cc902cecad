# A030 crashed: abort() while it loads
# says: signal 6
import os

os.abort()
