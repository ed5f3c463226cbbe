"""Plans distributed whole-graph GNN training, and runs the plans: docs/python.md."""

import importlib
import typing

if typing.TYPE_CHECKING:
    from . import safetensors, torch
    from ._data import Data
    from ._errors import DataError, DoesNotFit, Error, MissingError, UsageError
    from ._plan import Orders, Plan, plan, select_orders
    from ._questions import calibrate, machines, sweep
    from ._run import Run, infer, train

# Parts are loaded when they are used: neither NumPy, nor PyTorch, nor the compiled part is loaded before.
_PARTS = {"_data": ["Data"], "_errors": ["DataError", "DoesNotFit", "Error", "MissingError", "UsageError"],
          "_plan": ["Orders", "Plan", "plan", "select_orders"], "_questions": ["calibrate", "machines", "sweep"], "_run": ["Run", "infer", "train"]}
_WHERE = {name: part for part, names in _PARTS.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name):
    if name in _WHERE:
        return getattr(importlib.import_module("." + _WHERE[name], __name__), name)
    if name in ("safetensors", "torch"):
        return importlib.import_module("." + name, __name__)
    if name == "__version__":
        return importlib.import_module("._core", __name__).version
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*__all__, "__version__", "safetensors", "torch"]
