"""Plans distributed whole-graph GNN training, and runs the plans: docs/python.md."""

from . import _core
from ._data import Data
from ._errors import DataError, DoesNotFit, Error, MissingError, UsageError
from ._plan import Plan, plan
from ._run import Run, infer, train
from ._questions import calibrate, machines, sweep

__version__ = _core.version
__all__ = ["Data", "DataError", "DoesNotFit", "Error", "MissingError", "Plan", "Run", "UsageError", "calibrate", "infer",
           "machines", "plan", "sweep", "train"]
