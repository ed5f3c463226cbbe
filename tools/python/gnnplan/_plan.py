"""Plans: made from data, a card or sizes; read and written as the JSON that all programs use."""

import json
import os

from . import _core, _tool
from ._data import Data
from ._errors import DataError, DoesNotFit
from ._options import words
from ._wait import call


def _bytes(count):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.3g} {unit}"
        count /= 1024


class Plan:
    """A plan. `json` is its text, `document` the same as dicts and lists, with the keys of docs/plan-format.md."""

    def __init__(self, text, data=None, ranking=None, notes=()):
        self.json, self.data, self.notes = text, data, list(notes)
        try:
            self.document = json.loads(text)
            self.document["problem"], self.document["predicted"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(65, f"this is no plan: {error!r}", "plan") from error
        self._ranking = ranking

    @property
    def ranks(self):
        return self.document["problem"]["ranks"]

    @property
    def epoch_seconds(self):
        return self.document["predicted"]["epoch_seconds"]

    @property
    def memory(self):
        """Bytes of the rank that needs most."""
        return self.document["predicted"]["peak_bytes_per_rank"]

    @property
    def configuration(self):
        return self.document["configuration"]

    def __repr__(self):
        problem, how = self.document["problem"], self.configuration
        return (f"<gnnplan.Plan {problem['model']['name']} on {problem['graph']['name']}, {self.ranks} rank"
                f"{'' if self.ranks == 1 else 's'}: {how['scheme']} {how['grid']}, {self.epoch_seconds:.3g} s an epoch, "
                f"{_bytes(self.memory)} a rank>")

    def table(self):
        """The configurations that were ranked, the fastest first: a DataFrame where pandas is installed."""
        return _tool.frame([] if self._ranking is None else self._ranking["ranked"])

    def sure(self):
        """What is decided, what is not, and how long an epoch may take, in words; "" for a plan that was loaded."""
        return "" if self._ranking is None else self._ranking["sure"]["text"]

    def why(self):
        """What each choice is worth: the alternatives of the plan."""
        return _tool.frame(self.document.get("alternatives", []))

    def steps(self):
        """The steps of an epoch as `gnnplan explain --json` has them."""
        return _tool.frame(self.explain()["steps"])

    def explain(self):
        """`gnnplan explain --json` of this plan."""
        return _tool.document("explain", "--json", plan=self)

    def pytorch(self):
        """The plan as a program of PyTorch (`gnnplan explain --pytorch`)."""
        return _tool.text("explain", "--pytorch", plan=self)

    def report(self, path, run=None):
        """Writes the page of `gnnplan report`, of the plan and of a Run of it."""
        reports = {} if run is None else {"run.json": json.dumps(run.report)}
        _tool.text("report", "-o", os.fspath(path), plan=self, files=reports)

    def save(self, path):
        """Writes the file whole or not at all."""
        path = os.fspath(path)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(self.json)
        os.replace(path + ".part", path)

    @classmethod
    def load(cls, path, data=None):
        with open(path, encoding="utf-8") as file:
            return cls(file.read(), data)

    def __copy__(self):
        return Plan(self.json, self.data, self._ranking, self.notes)

    def __reduce__(self):  # without the data, which stays in its process
        return (Plan, (self.json, None, self._ranking, self.notes))


def plan(graph=None, model="gcn", ranks=1, **options):
    """The fastest plan. `graph`: a Data, the path of a data set, the name of a card ("reddit"), or None with vertices=
    and nonzeros=. All options of `gnnplan plan` are taken by their names: hidden=16, dropout=0.5, machine="h100x8".
    """
    data = graph if isinstance(graph, Data) else None
    name = data.path if data is not None else None if graph is None else os.fspath(graph)
    if data is not None and data.borrowed and options.get("task") == "infer":
        options.setdefault("load", "whole")
    if data is not None and data.weighted:
        options.setdefault("edge_weights", True)
    arguments = words(graph=name, model=model, ranks=ranks, **options)
    found = call(lambda: _core.plan(arguments, "gnnplan.plan " + " ".join(arguments)))
    if found.infeasible:
        raise DoesNotFit.of(json.loads(found.infeasible))
    return Plan(found.plan, data, json.loads(found.table), found.notes)
