"""Files of weights as gnnrun writes and reads them (safetensors), by NumPy alone."""

import json

import numpy

KINDS = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "U8": "|u1"}


class Weights(dict):
    """Arrays by name, with the file's `metadata`."""

    metadata = {}


def load(path):
    """Throws ValueError where the file is another one."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    weights = Weights()
    weights.metadata = header.pop("__metadata__", {})
    for name, entry in header.items():
        if entry["dtype"] not in KINDS:
            raise ValueError(f"{name} is of the unknown type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        weights[name] = numpy.frombuffer(data[begin:end], KINDS[entry["dtype"]]).reshape(entry["shape"]).copy()
    return weights


def save(weights, path):
    header, data = {}, b""
    if getattr(weights, "metadata", None):
        header["__metadata__"] = weights.metadata
    for name, array in weights.items():
        array = numpy.ascontiguousarray(array, "<f4")
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
