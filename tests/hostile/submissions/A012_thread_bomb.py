# A012 resource_limit: threads without end
# says: threads
import threading

stop = threading.Event()
while True:
    threading.Thread(target=stop.wait, daemon=True).start()
