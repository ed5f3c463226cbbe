"""A rank gets the dense rows of its pieces from the rank that holds them, or from one of its own node.

With `relay` a neighbour on the node passes whole pieces on that it has got before; with
`relayed_rows` each needed row comes from the nearest rank of the node that needs it, too.
"""

import numpy

from .pieces import deals_blocks, first_of, matrix_rows, pieces_of, shares_nonzeros


class Sources:
    """The sources of products with a matrix, by how they exchange rows."""

    def __init__(self, plan, graph, matrix, exchange, overlap):
        self.grid, self.graph, self.matrix = plan.grid, graph, matrix
        self.exchange, self.per_node = exchange, plan.ranks_per_node
        self.under_way = matrix.ahead if overlap else 1
        self.pieces = [pieces_of(plan.grid, matrix, rank) for rank in range(plan.ranks)]

    def of(self, rank, k):
        """Lists, for the k-th piece of a rank, (source, which rows of the piece, None for all)."""
        piece = self.pieces[rank][k]
        if piece.dense_root == rank:
            return []
        if self.exchange == "relay":
            return [(self._passes_panels(rank, k) or piece.dense_root, None)]
        if self.exchange == "panels":
            return [(piece.dense_root, None)]
        needed = self._needed(rank, piece)
        if self.exchange == "rows":
            return [(piece.dense_root, needed)]
        return self._relayed(rank, piece, needed)

    def needed(self, rank, k):
        """How many rows of its k-th piece a rank has, and which, None for all."""
        piece = self.pieces[rank][k]
        if self.exchange in ("rows", "relayed_rows") and piece.dense_root != rank:
            return self._needed(rank, piece)
        return None

    def _needed(self, rank, piece):
        own = matrix_rows(self.grid, self.matrix, rank)
        graph = self.graph.part_on(self.grid, self.matrix, rank)
        return graph.met(self.matrix.transposed, own, piece.columns)

    def _on_one_node(self, a, b):
        return a // self.per_node == b // self.per_node

    def _passes_panels(self, rank, k):
        """The next rank along x, if it has got the k-th piece long enough before."""
        place = self.grid.at(rank, "x") + 1
        if place == self.grid.extent["x"]:
            return None
        after = self.grid.neighbour(rank, "x", place)
        if not self._on_one_node(rank, after):
            return None
        behind, own_is_whole = self.matrix.splits, not deals_blocks(self.matrix)
        if shares_nonzeros(self.grid, self.matrix):
            count, own_is_whole = len(self.pieces[rank]), False
            behind = (first_of(self.grid, count, after) - first_of(self.grid, count, rank)) % count
        if behind < self.under_way or k < behind + own_is_whole:
            return None
        return after

    def _relayed(self, rank, piece, needed):
        """Rows of another node's piece that nearer ranks have got come from the nearest of them."""
        sources, left = [], needed
        if not self._on_one_node(rank, piece.dense_root):
            for nearer in self._further_along(rank):
                shared = numpy.isin(left, self._needed(nearer, piece), assume_unique=True)
                sources.append((nearer, left[shared]))
                left = left[~shared]
        return [(piece.dense_root, left)] + sources

    def _further_along(self, rank):
        """The ranks of the node that are further along x, the nearest first."""
        ranks = [self.grid.neighbour(rank, "x", place)
                 for place in range(self.grid.at(rank, "x") + 1, self.grid.extent["x"])]
        return [other for other in ranks if self._on_one_node(rank, other)]


class Transfers:
    """A rank's messages at each stage of its products with a matrix.

    sends[k]: (peer, columns of the piece, the stage at which this rank got it or None for its own
    rows, which rows of the piece). receives[k]: (source, places among the rank's rows of it).
    last_use has the last stage at which the rows of a stage are passed on.
    """

    def __init__(self, sources, rank, stages):
        self.sends = [[] for _ in range(stages)]
        self.receives = [[] for _ in range(stages)]
        self.got, self.last_use = {}, {}
        for k, piece in enumerate(sources.pieces[rank]):
            self.got[piece.columns] = k
            needed = sources.needed(rank, k)
            for source, rows in sources.of(rank, k):
                places = None if rows is None else numpy.searchsorted(needed, rows)
                self.receives[k].append((source, places))
        for peer, pieces in enumerate(sources.pieces):
            for k, piece in enumerate(pieces if peer != rank else ()):
                for source, rows in sources.of(peer, k):
                    if source == rank:
                        self._add_send(sources, rank, k, peer, piece, rows)

    def _add_send(self, sources, rank, k, peer, piece, rows):
        got = self.got[piece.columns] if piece.dense_root != rank else None
        if got is not None and sources.pieces[rank][got].dense_root == rank:
            got = None  # the rank holds a copy of the block itself
        if got is not None:
            needed = sources.needed(rank, got)
            rows = rows if needed is None else numpy.searchsorted(needed, rows)
            self.last_use[got] = max(k, self.last_use.get(got, k))
        self.sends[k].append((peer, piece.columns, got, rows))
