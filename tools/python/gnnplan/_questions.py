"""Questions that `gnnplan` answers in JSON: sweeps, machines, calibrations."""

from . import _tool
from ._options import words


def sweep(graph=None, vary=(), **options):
    """`gnnplan sweep --json`. `vary`: a dict, {"ranks": [1, 2, 4]}."""
    varied = [word for key, values in dict(vary).items() for word in ("--vary", f"{key}={','.join(map(str, values))}")]
    return _tool.document("sweep", *words(graph=graph, **options), *varied, "--json")


def machines():
    """The presets that plans can be made for, by name."""
    return {machine["name"]: machine for machine in _tool.document("machines", "list", "--json")["machines"]}


def calibrate(**options):
    """Measures this machine as `gnnplan calibrate` does, and returns the profile."""
    return _tool.document("calibrate", *words(**options), "--json")
