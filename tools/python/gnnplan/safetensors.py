"""Files of weights as gnnrun writes and reads them (safetensors), by NumPy alone."""

import json
import struct

import numpy

KINDS = {"F32": numpy.float32, "F64": numpy.float64, "F16": numpy.float16, "I64": numpy.int64, "U8": numpy.uint8}


class Weights(dict):
    """Arrays by name, with the file's `metadata`."""

    metadata = {}


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    weights = Weights()
    weights.metadata = header.pop("__metadata__", {})
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        weights[name] = numpy.frombuffer(data[begin:end], KINDS[entry["dtype"]]).reshape(entry["shape"]).copy()
    return weights


def save(weights, path):
    header, data = {}, b""
    if getattr(weights, "metadata", None):
        header["__metadata__"] = weights.metadata
    for name, array in weights.items():
        array = numpy.ascontiguousarray(array, numpy.float32)
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
