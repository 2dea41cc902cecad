# A132 denied|runtime_error|wrong_answer: loads the file as a library
import ctypes

ctypes.CDLL("{home}")
