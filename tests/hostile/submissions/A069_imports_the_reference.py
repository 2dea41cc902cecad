# A069 runtime_error: imports the reference
# says: cannot be imported
from reference.softmax import softmax
