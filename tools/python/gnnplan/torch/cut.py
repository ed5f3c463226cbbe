"""Deals the edges of a graph to parts by a vertex cut, as Libra does (Xie et al. 2014).

One edge follows the other, with a loop in Python: a million of them take some ten seconds.
"""

import math

import numpy

from .grid import balanced, size
from .philox import shuffled

MOST_OVER_MEAN = 1.05  # no part has more than this many times the mean number of edges


class Libra:
    """The part of each undirected edge {u, v}, and the owner of each vertex."""

    def __init__(self, graph, parts, seed):
        self.parts, self.load = parts, [0] * parts
        start, neighbours = pattern_of(graph)
        self.degree = numpy.diff(start).tolist()
        self.replicas = [0] * graph.vertices  # bit p: the vertex has an edge in part p
        self.most = math.ceil(MOST_OVER_MEAN * (len(neighbours) / 2) / parts)
        self.part = {}
        for u in shuffled(graph.vertices, seed).tolist():
            for v in neighbours[start[u]:start[u + 1]].tolist():
                if (u, v) not in self.part:
                    self.part[u, v] = self.part[v, u] = self._deal(u, v)
        self.owner = self._owners()

    def _deal(self, u, v):
        p = self._choose(u, v)
        self.replicas[u] |= 1 << p
        self.replicas[v] |= 1 << p
        self.load[p] += 1
        return p

    def _choose(self, u, v):
        """A part that has both ends, else one that has the end of lower degree, else any."""
        of_u, of_v = self.replicas[u], self.replicas[v]
        u_counts = self.degree[u] < self.degree[v]
        only_v = of_u == 0 or (of_v != 0 and not u_counts)
        for among in (of_u & of_v, of_v if only_v else of_u, of_u | of_v):
            found = [p for p in range(self.parts) if among >> p & 1 and self.load[p] < self.most]
            if found:
                return min(found, key=self.load.__getitem__)
        return min(range(self.parts), key=self.load.__getitem__)

    def _owners(self):
        """Vertices of few parts choose first: of their parts the one that has the most room."""
        room = [size(balanced((0, len(self.replicas)), p, self.parts)) for p in range(self.parts)]
        owner = [-1] * len(self.replicas)
        order = sorted(range(len(owner)), key=lambda v: bin(self.replicas[v]).count("1"))
        for v in order:
            found = [p for p in range(self.parts) if room[p] and self.replicas[v] >> p & 1]
            if found:
                owner[v] = max(found, key=room.__getitem__)
                room[owner[v]] -= 1
        for v in range(len(owner)):
            if owner[v] < 0:
                owner[v] = next(p for p in range(self.parts) if room[p])
                room[owner[v]] -= 1
        return numpy.array(owner)

    def of_edges(self, target, source):
        """The part of each nonzero; self loops are their owner's."""
        return numpy.array([self.part[u, v] if u != v else self.owner[u]
                            for u, v in zip(target.tolist(), source.tolist())], numpy.int64)


def pattern_of(graph):
    """Row starts and neighbours of the undirected pattern without self loops."""
    target, source, _ = graph.edges()
    other = target != source
    a, b = target[other], source[other]
    key = numpy.unique(numpy.concatenate([a * graph.vertices + b, b * graph.vertices + a]))
    start = numpy.searchsorted(key // graph.vertices, numpy.arange(graph.vertices + 1))
    return start, key % graph.vertices
