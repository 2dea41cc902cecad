# A141 denied: compiled code beside a source that others will import
import marshal
import os
import struct

code = marshal.dumps(compile("import os", "honest.py", "exec"))
os.makedirs("{folder}/__pycache__", exist_ok=True)
with open("{folder}/__pycache__/honest.cpython-311.pyc", "wb") as file:
    file.write(b"\xa7\r\r\n" + struct.pack("<III", 1, 0, 0) + code)
