"""The propagation matrix, numbered as the plan numbers vertices, and blocks of it."""

import copy

import numpy

from .._errors import make
from .errors import MISMATCH
from .neighbours import Neighbours


class Graph:
    """The forward matrix (rows are targets, columns sources) and its transpose.

    With `transposed` a matrix is the one of the forward pass, as in a plan's tensors.
    """

    _drawn = ()

    def __init__(self, data, plan):
        self.vertices = data.vertices
        target, source, weight = entries(data, plan.graph)
        self.position = self.vertex = numpy.arange(self.vertices)
        self.row_scale, self.column_scale = scales(plan.graph["normalisation"], self.vertices,
                                                   target, source, weight)
        self._edges = target, source, weight
        if len(target) != plan.graph["nonzeros"]:
            raise make(MISMATCH, f"the data's matrix has {len(target)} nonzeros, and the plan "
                       f"is for {plan.graph['nonzeros']}: give the plan's data, or make "
                       "another plan")

    def number(self, vertex):
        """Numbers the vertices: vertex[i] is the one that gets row i."""
        self.vertex = vertex
        self.position = numpy.empty_like(vertex)
        self.position[vertex] = numpy.arange(len(vertex))
        target, source, weight = self._edges
        self._edges = self.position[target], self.position[source], weight
        self.row_scale = self.row_scale[vertex]
        self.column_scale = self.column_scale[vertex]

    def edges(self):
        """Targets, sources and weights of the nonzeros."""
        return self._edges

    def draw(self, fanout, seed):
        """Draws, for each layer, some in-neighbours of every vertex, which are not numbered yet."""
        neighbours = Neighbours(self.vertices, *self._edges[:2])
        self._drawn = [neighbours.drawn(seed, layer, count) for layer, count in enumerate(fanout)]

    def finish(self, part=None, parts=0):
        """Sorts the nonzeros by rows of both matrices; part: of each, the part of a cut."""
        self._sort(*self._edges)
        self.samples = []
        for kept, each in self._drawn:
            self.samples.append(copy.copy(self))
            target, source, weight = self._edges
            weight = weight.astype(numpy.float32) * each
            self.samples[-1]._sort(target[kept], source[kept], weight[kept])
        self.parts = []
        for p in range(parts):
            self.parts.append(copy.copy(self))
            self.parts[p]._sort(*(of[part == p] for of in self._edges))

    def part_on(self, grid, matrix, rank):
        """The graph, the part of a cut, or what a layer has drawn, whose nonzeros a rank has."""
        if matrix.sample:
            return self.samples[matrix.sample - 1]
        return self.parts[grid.at(rank, "x")] if "x" in matrix.layout[2] else self

    def _sort(self, target, source, weight):
        self._sorted = {}
        for transposed, rows, columns in ((True, target, source), (False, source, target)):
            order = numpy.lexsort((columns, rows))
            start = numpy.searchsorted(rows[order], numpy.arange(self.vertices + 1))
            self._sorted[transposed] = start, columns[order], weight[order]
        self._met = {}

    def in_neighbours(self, vertices):
        """The sources of the edges into these vertices, before they are numbered."""
        target, source, _ = self._edges
        wanted = numpy.zeros(self.vertices, bool)
        wanted[vertices] = True
        return source[wanted[target]]

    def scales_of(self, transposed):
        both = self.row_scale, self.column_scale
        return both if transposed else both[::-1]

    def block(self, transposed, rows, columns):
        """Row starts, columns from the first one on, and values of a block in CSR."""
        row, kept, weight = self._within(transposed, rows, columns)
        counts = numpy.bincount(row - rows[0], minlength=rows[1] - rows[0])
        row_scale, column_scale = self.scales_of(transposed)
        values = row_scale[row] * weight * column_scale[kept]
        return numpy.concatenate([[0], counts.cumsum()]), kept - columns[0], values

    def pairs(self, transposed, rows, columns):
        """Rows and columns of the nonzeros of a block, row by row."""
        return self._within(transposed, rows, columns)[:2]

    def _within(self, transposed, rows, columns):
        start, column, weight = self._sorted[transposed]
        row = numpy.repeat(numpy.arange(*rows), numpy.diff(start[rows[0]:rows[1] + 1]))
        here = slice(start[rows[0]], start[rows[1]])
        inside = (column[here] >= columns[0]) & (column[here] < columns[1])
        return row[inside], column[here][inside], weight[here][inside]

    def met(self, transposed, rows, columns):
        """Returns the columns in which some rows have nonzeros, counted from the first one on."""
        key = transposed, rows, columns
        if key not in self._met:
            start, column, _ = self._sorted[transposed]
            of_rows = column[start[rows[0]]:start[rows[1]]]
            inside = of_rows[(of_rows >= columns[0]) & (of_rows < columns[1])]
            self._met[key] = numpy.unique(inside) - columns[0]
        return self._met[key]

    def stored_rows(self, transposed):
        """The rows that have a nonzero."""
        return numpy.flatnonzero(numpy.diff(self._sorted[transposed][0]))

    def nonzeros(self, transposed, rows, columns):
        start, column, _ = self._sorted[transposed]
        of_rows = column[start[rows[0]]:start[rows[1]]]
        return int(((of_rows >= columns[0]) & (of_rows < columns[1])).sum())


def entries(data, graph):
    """Targets, sources and weights of the edges, cleaned as docs/edge-weights.md says."""
    n, (source, target) = data.vertices, data.edges
    weight = numpy.ones(len(source)) if data.weights is None else data.weights.astype(float)
    other = source != target
    key, weight = merged((target * n + source)[other], weight[other])
    if graph["symmetrised"]:
        reverse = key % n * n + key // n
        counts = numpy.ones(2 * len(key))
        key, times, weight = merged(numpy.concatenate([key, reverse]), counts,
                                    numpy.concatenate([weight, weight]))
        weight = weight / times
    if data.weights is None:
        weight = numpy.ones(len(key))
    if graph["self_loops"]:
        key = numpy.concatenate([key, numpy.arange(n) * (n + 1)])
        weight = numpy.concatenate([weight, numpy.ones(n)])
        order = numpy.argsort(key)
        key, weight = key[order], weight[order]
    return key // n, key % n, weight


def merged(key, *values):
    """Distinct keys, sorted, and the sums of the values of each."""
    unique, place = numpy.unique(key, return_inverse=True)
    return (unique, *(numpy.bincount(place.reshape(-1), of, len(unique)) for of in values))


def scales(normalisation, n, target, source, weight):
    """The factors of an entry's weight for its row and for its column."""
    ones = numpy.ones(n)
    into, out_of = numpy.bincount(target, weight, n), numpy.bincount(source, weight, n)
    if normalisation == "symmetric":
        return tuple(numpy.where(d > 0, 1 / numpy.sqrt(numpy.where(d > 0, d, 1)), 0)
                     for d in (into, out_of))
    if normalisation == "row_mean":
        return numpy.where(into != 0, 1 / numpy.where(into != 0, into, 1), 0), ones
    return ones, ones
