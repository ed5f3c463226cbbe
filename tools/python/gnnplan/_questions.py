"""Questions that `gnnplan` answers in JSON: sweeps, machines, calibrations."""

import os
import tempfile

from . import _tool
from ._data import Data
from ._errors import naming
from ._options import text_of, words


def sweep(graph=None, vary=(), **options):
    """`gnnplan sweep --json`. `vary`: a dict, {"ranks": [1, 2, 4]}."""
    varied = [f"--vary={key.replace('_', '-')}={text_of(values)}" for key, values in dict(vary).items()]
    with tempfile.TemporaryDirectory() as folder, naming({folder + os.sep: ""}):
        if isinstance(graph, Data) and graph.borrowed:
            path = os.path.join(folder, graph.path + ".npz")
            graph.save(path)
            graph = path
        elif isinstance(graph, Data):
            graph = graph.path
        return _tool.document("sweep", *words(graph=graph, **options), *varied, "--json")


def machines():
    """The presets that plans can be made for, by name."""
    return {machine["name"]: machine for machine in _tool.document("machines", "list", "--json")["machines"]}


def calibrate(**options):
    """Measures this machine as `gnnplan calibrate` does, and returns the profile."""
    return _tool.document("calibrate", *words(**options), "--json")
