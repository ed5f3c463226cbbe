"""The parameters of a plan from files of weights, and into them."""

import numpy
import torch

from .. import safetensors
from .._errors import make
from .errors import DATA, MISMATCH, MISSING


def load(path, plan):
    """The parameters of a file by name, which must be those of the plan."""
    try:
        given = safetensors.load(path)
    except OSError as error:
        raise make(MISSING, f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise make(DATA, f"{path} is no safetensors file: {error}") from error
    wanted = {entry["name"]: (entry["shape"], numpy.float32) for entry in plan.parameters}
    found = {name: (list(array.shape), array.dtype) for name, array in given.items()}
    if wanted != found:
        other = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise make(MISMATCH, f"{path} has weights of another model: {', '.join(other)} differ "
                   "from the plan's; give the weights of this plan's model")
    return {name: torch.from_numpy(array) for name, array in given.items()}


def save(path, tensors):
    weights = safetensors.Weights({name: tensor.numpy() for name, tensor in tensors.items()})
    weights.metadata = {"format": "pt"}
    safetensors.save(weights, path)
