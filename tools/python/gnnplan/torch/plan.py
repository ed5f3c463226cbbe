"""Reads a plan: the keys of docs/plan-format.md that training needs."""

import json

from . import fingerprint
from .._errors import make
from .errors import DATA, MISSING
from .grid import Grid

SCHEMA = "gnnplan.plan/4"


class Tensor:
    """An entry of the schedule's table of matrices."""

    def __init__(self, entry):
        self.name, self.role, self.dtype = entry["name"], entry["role"], entry["dtype"]
        self.rows, self.columns = entry["rows"], entry["columns"]
        self.layout = tuple(entry["layout"][key] for key in ("rows", "columns", "partial"))
        self.transposed, self.factored = entry["transposed"], entry["factored"]
        self.splits, self.panel_columns = entry["splits"], entry["panel_columns"]
        self.ahead = entry.get("ahead", self.splits)
        self.sample = entry.get("sample", 0)
        self.structure, self.parameter = entry["structure"], entry["parameter"]
        self.space, self.column_space = entry["space"], entry["column_space"]


class Step:
    """A step of the schedule. Its further keys are read with step["key"], None where absent."""

    def __init__(self, entry):
        self.keys = entry
        self.name, self.kind, self.phase = entry["name"], entry["kind"], entry["phase"]

    def __getitem__(self, key):
        return self.keys.get(key)

    def operands(self, tensors):
        """The names of the tensors that the step reads or writes."""
        found = []
        for key, value in self.keys.items():
            if key not in ("name", "kind", "phase", "op"):
                values = value if isinstance(value, list) else [value]
                found += [v for v in values if isinstance(v, str) and v in tensors]
        return found


class Plan:
    """The chosen candidate of a plan, and the problem that it is for."""

    def __init__(self, path):
        document = self._document(path)
        try:
            self._take(document)
        except (KeyError, TypeError) as error:
            raise make(DATA, f"{path}: the plan lacks {error}: make it again with "
                       "`gnnplan plan`") from error
        self.path = str(path)

    @staticmethod
    def _document(path):
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except OSError as error:
            raise make(MISSING, f"{path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise make(DATA, f"{path} is not JSON: {error}") from error
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema != SCHEMA:
            raise make(DATA, f"{path} has the schema {schema!r}, not {SCHEMA}: make the plan "
                       "again with `gnnplan plan`")
        if fingerprint.of_content(document) != document.get("fingerprints", {}).get("content"):
            raise make(DATA, f"{path} was damaged or edited, as its fingerprint says: make "
                       "the plan again with `gnnplan plan`")
        return document

    def _take(self, document):
        self.problem, self.configuration = document["problem"], document["configuration"]
        self.graph, self.model = self.problem["graph"], self.problem["model"]
        self.ranks, self.run = self.problem["ranks"], self.problem.get("run", {})
        self.predicted, schedule = document["predicted"], document["schedule"]
        self.grid = Grid(self.configuration["grid"], self.configuration.get("node_axis", "y"))
        self.output = schedule.get("output")  # the logits, of an inference
        self.grid.groups = self.configuration.get("groups")
        self.numbering, self.spaces = schedule["numbering"], schedule["spaces"]
        self.parameters = schedule["parameters"]
        self.tensors = {entry["name"]: Tensor(entry) for entry in schedule["tensors"]}
        self.steps = [Step(entry) for entry in schedule["steps"]]
        self.ranks_per_node = document["machine"]["ranks_per_node"]
        blocking = document["machine"].get("blocking", {})
        self.row_start_bytes = blocking.get("row_start_bytes", 8)

    def of_phase(self, phase):
        return [step for step in self.steps if step.phase == phase]

    @property
    def of_groups(self):
        """The spaces that have the vertices of the graphs of groups."""
        return {space["name"] for space in self.spaces if space.get("of_groups")}

    def set_groups(self, first):
        """Gives groups other numbers of rows: the first row of each, and behind the last one all."""
        self.grid.groups, spaces = first, self.of_groups
        for tensor in self.tensors.values():
            if tensor.space in spaces:
                tensor.rows = first[-1]
            if tensor.column_space in spaces:
                tensor.columns = first[-1]

    @property
    def infers(self):
        return self.problem.get("task", "train") == "infer"

    def classes(self):
        """How many columns the logits have."""
        logits = self.output or next(step["logits"] for step in self.steps if step.kind == "loss")
        return self.tensors[logits].columns

    def dropout(self, layer):
        """The probability of dropping an element of the input of a layer."""
        everywhere = self.run.get("dropout", 0)
        return self.run.get("input_dropout", everywhere) if layer == 1 else everywhere
