# A068 denied: has another Python import it
# says: start another
import subprocess
import sys

print(subprocess.check_output([sys.executable, "-c", "import reference.softmax"]))
