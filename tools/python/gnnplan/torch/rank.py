"""A rank holds its blocks of the schedule's tensors, by name."""

import numpy
import torch

from . import philox
from .grid import size
from .sparse import SparsePart, base_of

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bits": torch.bool, "i32": torch.int64,
          "u8": torch.uint8}


class Rank:
    """The state of one rank, which the functions that run steps read and change."""

    def __init__(self, plan, graph, data, wire, seed):
        self.plan, self.grid, self.graph, self.data = plan, plan.grid, graph, data
        self.wire, self.rank, self.device, self.seed = wire, wire.rank, wire.device, seed
        self.settings = None  # train.py sets them for each pass
        self.values, self.parts, self.reorderings = {}, {}, {}
        names = {name for step in plan.steps for name in step.operands(plan.tensors)}
        self.used = [tensor for name, tensor in plan.tensors.items() if name in names]
        for tensor in self.used:
            if tensor.space not in plan.of_groups:
                self._fill(tensor)

    def take(self, graph):
        """Puts a graph in place of that which groups had before."""
        self.graph, self.reorderings = graph, {}
        of_groups = [tensor for tensor in self.used if tensor.space in self.plan.of_groups]
        for tensor in of_groups:
            self.parts.pop(tensor.name, None)
        for tensor in of_groups:
            self._fill(tensor)

    def tensor(self, name):
        return self.plan.tensors[name]

    def block(self, name):
        """The global rows and columns of this rank's block."""
        return self.grid.block(self.tensor(name), self.rank)

    def zeros(self, tensor):
        """A new block of a tensor, which takes its place among the values."""
        rows, columns = self.grid.block(tensor, self.rank)
        count = size(rows)
        if tensor.role == "summands":
            count = len(self.part(tensor.structure).stored)
        elif tensor.role == "edges":
            count = self.part(tensor.structure).edges()[-1].stop
        self.values[tensor.name] = torch.zeros(count, size(columns), dtype=DTYPES[tensor.dtype],
                                               device=self.device)
        return self.values[tensor.name]

    def part(self, name):
        return self.parts[base_of(self.plan, name)]

    def set_parameters(self, values):
        """Takes parameters by their names in files of weights."""
        for tensor in self.plan.tensors.values():
            if tensor.parameter in values and tensor.role in ("weight", "bias"):
                value = values[tensor.parameter].reshape(tensor.rows, tensor.columns)
                self.values[tensor.name] = value.to(self.device, torch.float32).clone()

    def parameters(self):
        """Parameters by their names in files of weights, in their own shapes."""
        shapes = {entry["name"]: entry["shape"] for entry in self.plan.parameters}
        found = {tensor.parameter: self.values[tensor.name].cpu()
                 for tensor in self.plan.tensors.values()
                 if tensor.role in ("weight", "bias") and tensor.name in self.values}
        return {name: found[name].reshape(shape) for name, shape in shapes.items() if name in found}

    def _fill(self, tensor):
        """Makes what is resident; what steps make comes with the steps."""
        if tensor.role == "adjacency":
            base = base_of(self.plan, tensor.name)
            if base not in self.parts:
                self.parts[base] = SparsePart(self, self.tensor(base))
        elif tensor.role in ("weight", "bias"):
            self.values[tensor.name] = torch.from_numpy(self._initial(tensor)).to(self.device)
        elif tensor.role == "moment":
            self.zeros(tensor)
        elif tensor.role in ("features", "labels", "known_labels", "subset", "vertices", "counts_as"):
            value = torch.from_numpy(numpy.ascontiguousarray(self._of_vertices(tensor)))
            self.values[tensor.name] = value.to(self.device)

    def _initial(self, tensor):
        shape = tensor.rows, tensor.columns
        names = [entry["name"] for entry in self.plan.parameters]
        before = self.plan.parameters[:names.index(tensor.parameter)]
        init = self.plan.parameters[len(before)]["init"]
        if init == "glorot":
            drawn = sum(entry["init"] == "glorot" for entry in before)
            return philox.glorot(self.seed, drawn + 1, *shape)
        return numpy.full(shape, init == "ones", numpy.float32)

    def _of_vertices(self, tensor):
        (first, last), columns = self.grid.block(tensor, self.rank)
        vertices = self.graph.vertex[first:last]
        if tensor.role == "features":
            return self.data.features(vertices, columns)
        if tensor.role == "subset":
            return self.data.subset[vertices][:, None]
        if tensor.role == "vertices":
            return vertices[:, None]
        if tensor.role == "counts_as":
            return self.graph.counts_as[first:last][:, None]
        if tensor.dtype == "i32":
            return self.data.labels[vertices][:, None]
        of = self.data.known() if tensor.role == "known_labels" else self.data.labels == 1
        return of.reshape(len(of), -1)[vertices][:, columns[0]:columns[1]]
