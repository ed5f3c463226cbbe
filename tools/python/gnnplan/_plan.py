"""Plans: made from data, a card or sizes; read and written as the JSON that all programs use."""

import json
import os
import typing

from . import _core, _html, _tool
from ._data import Data
from ._errors import DataError, DoesNotFit, make
from ._options import words
from ._wait import call


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
                f"{'' if self.ranks == 1 else 's'}: {how['scheme']} {_html.grid_text(how['grid'])}, {self.epoch_seconds:.3g} s an epoch, "
                f"{_html.in_bytes(self.memory)} a rank>")

    def _repr_html_(self):
        return _html.page(self)

    def table(self):
        """The configurations that were ranked, the fastest first: a DataFrame where pandas is installed."""
        return _tool.frame(self.ranked)

    @property
    def ranked(self):
        """The same as dicts; none of a plan that was loaded."""
        return [] if self._ranking is None else self._ranking["ranked"]

    def sure(self):
        """Says in words what is decided, what is not, and how long an epoch may take; "" for a plan that was loaded."""
        return "" if self._ranking is None else self._ranking["sure"]["text"]

    def why(self):
        """Returns the alternatives of the plan, which say what each choice is worth."""
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
        try:
            with open(path + ".part", "w", encoding="utf-8") as file:
                file.write(self.json)
            os.replace(path + ".part", path)
        except OSError as error:
            raise make(74, f"{path}: {error.strerror}", path) from error

    @classmethod
    def load(cls, path, data=None):
        path = os.fspath(path)
        try:
            with open(path, encoding="utf-8") as file:
                return cls(file.read(), data)
        except OSError as error:
            raise make(66, f"{path}: {error.strerror}", path) from error
        except ValueError as error:
            raise make(65, f"{path}: this is no plan", path, "gnnplan.plan(...) makes one, and save() writes it") from error

    def __copy__(self):
        return Plan(self.json, self.data, self._ranking, self.notes)

    def __reduce__(self):  # without the data, which stays in its process
        return (Plan, (self.json, None, self._ranking, self.notes))


def _asked(graph, model, ranks, options):
    """The data, where there are arrays or files, and the words of the question."""
    data = graph if isinstance(graph, Data) else None
    name = data.path if data is not None else None if graph is None else os.fspath(graph)
    if data is not None and data.borrowed and options.get("task") == "infer":
        options.setdefault("load", "whole")
    if data is not None and data.weighted:
        options.setdefault("edge_weights", True)
    return data, words(graph=name, model=model, ranks=ranks, **options)


def _found(search):
    """Returns the result of search(stop). Ctrl-C ends the search, too."""
    stop = _core.Stop()
    found = call(lambda: search(stop), stop.tell)
    if found is None:
        raise KeyboardInterrupt
    return found


def plan(graph=None, model="gcn", ranks=1, **options):
    """The fastest plan. `graph`: a Data, the path of a data set, the name of a card ("reddit"), or None with vertices=
    and nonzeros=. All options of `gnnplan plan` are taken by their names: hidden=16, dropout=0.5, machine="h100x8".
    """
    data, arguments = _asked(graph, model, ranks, options)
    found = _found(lambda stop: _core.plan(arguments, "gnnplan.plan " + " ".join(arguments), stop))
    if found.infeasible:
        raise DoesNotFit.of(json.loads(found.infeasible))
    made = Plan(found.plan, data, json.loads(found.table), found.notes)
    if data is None and made.document["problem"]["graph"].get("exact"):
        made.data = Data.open(os.fspath(graph))
    return made


class Orders(typing.NamedTuple):
    """The fastest plan in brief. S: the sparse product first (aggregate), D: the dense one (transform)."""

    forward: str  # of layers 1 .. L
    backward: str  # of layers L .. 1; - where nothing needs the gradient of the input
    kept: list  # "T1 across epochs" (made once), "T2" (until the backward pass)
    scheme: str
    grid: str
    epoch_seconds: float
    peak_bytes_per_rank: int
    memory_per_rank: int


def select_orders(graph=None, model="gcn", ranks=1, **options):
    """The choices of plan(), which takes the same, for those who have a training loop of their own. It compares nothing,
    and so takes less time."""
    _, arguments = _asked(graph, model, ranks, options)
    try:
        found = _found(lambda stop: _core.select_orders(arguments, stop))
    except DoesNotFit:
        plan(graph, model, ranks, **options)  # its error says how much is needed
        raise
    return Orders(*(getattr(found, name) for name in Orders._fields))
