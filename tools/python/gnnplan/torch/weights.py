"""Files of weights (safetensors), as gnnrun reads and writes them."""

import json

import numpy
import torch

from .errors import DATA, MISMATCH, MISSING, PlanError


def load(path, plan):
    """The parameters of a file by name, which must be those of the plan."""
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            values = file.read()
    except OSError as error:
        raise PlanError(MISSING, f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise PlanError(DATA, f"{path} is no safetensors file: {error}") from error
    header.pop("__metadata__", None)
    wanted = {entry["name"]: entry["shape"] for entry in plan.parameters}
    found = {name: entry["shape"] for name, entry in header.items()}
    if wanted != found or any(entry["dtype"] != "F32" for entry in header.values()):
        other = sorted(name for name in wanted.keys() | found.keys()
                       if wanted.get(name) != found.get(name))
        raise PlanError(MISMATCH, f"{path} has weights of another model: {', '.join(other)} differ "
                        "from the plan's; give the weights of this plan's model")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(values[begin:end], "<f4").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(array.astype(numpy.float32))
    return tensors


def save(path, tensors):
    header, values = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        these = tensor.contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(values), len(values) + len(these)]}
        values += these
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + values)
