"""Updates of batches: a pool of them, counted before training, and the graphs of those of an update.

docs/samples.md says what batches are. Every rank draws those of all groups, with its whole graph.
"""

import numpy

from .data import TRAIN
from .draws import Draws, order_of_round
from .matrix import Graph, scales
from .neighbours import Neighbours, seed_of_update


class Pool:
    """Numbered batches, and in how many of them a vertex and an edge are."""

    def __init__(self, graph, data, plan):
        self.sampling = plan.problem["batches"]["sampling"]
        self.normalisation = plan.graph["normalisation"]
        self.trains = data.subset == TRAIN
        self.vertex = numpy.arange(graph.vertices)
        self.edges = graph.edges()
        if self.sampling.get("training_graph"):
            self._keep(numpy.flatnonzero(self.trains))
        self.scales = scales(self.normalisation, len(self.vertex), *self.edges)
        target, source, _ = self.edges
        self.draws = Draws(self.sampling, plan.graph["symmetric"],
                           rows_of(source, target, len(self.vertex)),
                           rows_of(target, source, len(self.vertex)))
        self._count()

    def _keep(self, vertices):
        """Leaves these vertices, and the edges among them."""
        number = numpy.full(len(self.vertex), -1)
        number[vertices] = numpy.arange(len(vertices))
        target, source, weight = self.edges
        inside = (number[target] >= 0) & (number[source] >= 0)
        self.edges = number[target[inside]], number[source[inside]], weight[inside]
        self.vertex, self.trains = vertices, self.trains[vertices]

    def _count(self):
        """Draws batches until they have each vertex so many times on average."""
        self.with_vertex = numpy.zeros(len(self.vertex), numpy.int64)
        self.with_edge = numpy.zeros(len(self.edges[0]), numpy.int64)
        self.training = []  # by batch, how many of its vertices train
        wanted = max(1, self.sampling["coverage"] * len(self.vertex))
        while wanted > 0:
            vertices = self.draws.vertices(len(self.training))
            self.with_vertex[vertices] += 1
            self.with_edge += self.edges_among(vertices)
            self.training.append(int(self.trains[vertices].sum()))
            wanted -= len(vertices)

    def edges_among(self, vertices):
        chosen = numpy.zeros(len(self.vertex), bool)
        chosen[vertices] = True
        return chosen[self.edges[0]] & chosen[self.edges[1]]

    def counts_as(self, vertices, batch):
        """By how much the loss of these vertices of a batch counts."""
        if self.sampling["coefficients"]:
            share = len(self.training) / self.with_vertex[vertices]
        else:
            share = self.trains.sum() / max(1, self.training[batch])
        return numpy.where(self.trains[vertices], share, 0).astype(numpy.float32)


class BatchGraph(Graph):
    """The graph of some batches, one after the other, whose vertices have numbers of their own."""

    def __init__(self, pool, batches):
        of_batch = [pool.draws.vertices(batch) for batch in batches]
        drawn = numpy.concatenate(of_batch)
        self.first = numpy.concatenate([[0], numpy.cumsum([len(of) for of in of_batch])])
        self.vertices, self.vertex = len(drawn), pool.vertex[drawn]
        self.counts_as = numpy.concatenate([pool.counts_as(of, batch)
                                            for of, batch in zip(of_batch, batches)])
        found = [self._edges_of(pool, *of) for of in zip(of_batch, self.first)]
        self._edges = tuple(numpy.concatenate([of[i] for of in found]) for i in range(3))
        if pool.sampling["coefficients"]:
            self.row_scale = pool.scales[0][drawn] * pool.with_vertex[drawn]
            self.column_scale = pool.scales[1][drawn]
        else:
            self.row_scale, self.column_scale = scales(pool.normalisation, self.vertices, *self._edges)
        self.finish()

    @staticmethod
    def _edges_of(pool, vertices, first):
        among = pool.edges_among(vertices)
        place = numpy.zeros(len(pool.vertex), numpy.int64)
        place[vertices] = numpy.arange(first, first + len(vertices))
        target, source, weight = (of[among] for of in pool.edges)
        if pool.sampling["coefficients"]:
            weight = (weight.astype(numpy.float32) / pool.with_edge[among]).astype(numpy.float32)
        return place[target], place[source], weight


class MaskedGraph(Graph):
    """The whole graph with some in-neighbours of each vertex, drawn anew for an update."""

    def __init__(self, graph, data, plan, number):
        sampling = plan.problem["batches"]["sampling"]
        self.vertices, self.vertex = graph.vertices, graph.vertex
        self.first = numpy.array([0, self.vertices])
        self.counts_as = (data.subset == TRAIN).astype(numpy.float32)
        target, source, weight = graph.edges()
        kept, each = Neighbours(self.vertices, target, source).drawn(
            seed_of_update(sampling["seed"], number), 0, sampling["budget"])
        weight = weight.astype(numpy.float32) * each
        self._edges = target[kept], source[kept], weight[kept]
        self.row_scale, self.column_scale = graph.row_scale, graph.column_scale
        self.finish()


class Batches:
    """Puts the batches of an update in place of those before, and the whole graph for evaluations."""

    def __init__(self, plan, graph, data):
        self.plan, self.graph, self.data = plan, graph, data
        self.per_update = plan.problem["batches"]["per_update"]
        draws_anew = plan.problem["batches"]["sampling"]["sampler"] == "neighbours"
        self.pool = None if draws_anew else Pool(graph, data, plan)
        self.most = plan.grid.groups
        self.round = self.order = None

    def take(self, epoch, rank):
        """The batches of an epoch, from 1 on."""
        first = (epoch - 1) * self.per_update
        if self.pool:
            places = range(first, first + self.per_update)
            graph = BatchGraph(self.pool, [self._number(place) for place in places])
        else:
            graph = MaskedGraph(self.graph, self.data, self.plan, first)
        each = self.per_update // self.plan.grid.extent["x"]
        self.plan.set_groups([int(at) for at in graph.first[::each]])
        rank.take(graph)

    def leave(self, rank):
        self.plan.set_groups(self.most)
        rank.graph = self.graph

    def _number(self, place):
        """Returns the batch of the pool that stands at a place of the walks through it."""
        count = len(self.pool.training)
        if self.round != place // count:
            self.round = place // count
            self.order = order_of_round(count, self.pool.sampling["seed"], self.round)
        return self.order[place % count]


def rows_of(row, column, count):
    """Row starts and columns of a matrix that is given by its nonzeros."""
    order = numpy.lexsort((column, row))
    return numpy.searchsorted(row[order], numpy.arange(count + 1)), column[order]
