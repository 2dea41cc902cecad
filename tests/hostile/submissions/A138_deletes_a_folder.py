# A138 denied: removes a whole folder
import shutil

shutil.rmtree("{folder}")
