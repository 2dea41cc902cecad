"""The layout of a slab: the shared memory of one request and its answer.

The judge makes a fresh slab for every request, fixes its size and the place of every buffer, and
sends its descriptor. The child writes into it and then sends one byte. Nothing that the child
writes can be executed, and every field has a range:

    0        ANSWER      what came of it
    128      DEVICE      what a call on a device says that it took
    256      FORBIDDEN   an operation that was ruled out, written at the moment it is refused
    328      COUNTS      what a counted call did
    512      16 x VALUE  what each returned value is
    4096     texts       error, traceback, gradient error, each with a fixed room
    32768    request     length and JSON, written by the judge
    BUFFERS  tensors     at offsets that the request names, multiples of 64
"""

from __future__ import annotations

import struct
from typing import NamedTuple

MAGIC = b"drl1"
REQUEST_MESSAGE = struct.Struct("<Q")  # the size of the slab whose descriptor comes along
READY, DONE, REFUSED = b"R", b"D", b"F"
# Around a timed call on a device: the arguments are there, the judge's word, all work is done.
PREPARED, GO, COMPUTED = b"P", b"G", b"C"

# Exit codes of a child that can answer no more. Nothing but a message hangs on them: a submission
# may end its process with the same ones.
NO_CHANNEL, BROKEN, NO_FILES, NO_MEMORY = 201, 202, 203, 204

STATUSES = (
    *("", "returned", "exception", "memory", "syntax", "missing", "not-callable"),
    "no-device",
)
MAX_VALUES = 16
MAX_RANK = 16
MAX_INPUTS = 64
MOST_LAUNCHES = 2**16 - 1


class Room(NamedTuple):
    """A place for text: at most `size` bytes from `start`."""

    start: int
    size: int


# magic, status, whether an earlier result was overwritten, kernels launched, line, values, bytes
# of each text, inputs changed, gradients present
ANSWER = struct.Struct("<4sBBHiIIIIQQ")
ANSWER_AT = 0
# seconds by the device's clock, bytes at their highest, kernels
DEVICE = struct.Struct("<dQI")
DEVICE_AT = 128
FORBIDDEN = struct.Struct("<i64s")  # line (0: unknown), name
FORBIDDEN_AT = 256
# work, flops, operations, bytes held at once, line of most work, whether some cannot be seen, and
# whether numbers became Python's own; of the largest tensor and the largest computed one: elements,
# line (0: unknown), dtype, rank, shape
COUNTS = struct.Struct("<QQQQiBB" + 2 * "QiBB7q")
COUNTS_AT = 328
COUNTED_RANK = 7
# kind, dtype, rank, output whose buffer holds a copy (-1: none), shape, the type's name (of a
# tensor or array whose dtype has no code: the dtype's)
VALUE = struct.Struct("<BBBb16q48s")
VALUES_AT = 512
ERROR = Room(4096, 8192)
TRACEBACK = Room(12288, 16384)
GRADIENT_ERROR = Room(28672, 4096)
REQUEST_LENGTH = struct.Struct("<I")
REQUEST_AT = 32768
ALIGNMENT = 64

KIND_TENSOR, KIND_ARRAY, KIND_OTHER = 0, 1, 2

# Codes are positions; sizes in bytes. Code 0 is any other dtype.
DTYPES = {
    "": 0,
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float128": 16,
    "object": 8,
}
DTYPE_NAMES = tuple(DTYPES)
DTYPE_CODES = {name: code for code, name in enumerate(DTYPE_NAMES)}

assert ANSWER_AT + ANSWER.size <= DEVICE_AT
assert DEVICE_AT + DEVICE.size <= FORBIDDEN_AT
assert COUNTS_AT + COUNTS.size <= VALUES_AT
assert VALUES_AT + MAX_VALUES * VALUE.size <= ERROR.start
