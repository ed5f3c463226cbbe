"""Values of the nonzeros of a matrix: softmaxes of rows, and where other ranks have the same nonzeros.

They lie as a rank's pieces do, stage after stage, and within a piece row by row in the order of the columns.
"""

import numpy
import torch

from .grid import size
from .pieces import matrix_rows, pieces_of


def softmax(step, rank):
    """The softmax over each row of beta times scores; of rows, the largest and the denominator."""
    part = rank.part(step["matrix"])
    scores, beta = (rank.values[name] for name in step["in"])
    row, scaled = part.edge_rows(), beta[0, 0] * scores[:, 0]
    _, largest, total = (rank.zeros(rank.tensor(name)) for name in step["out"])
    largest.fill_(-float("inf"))
    largest[:, 0].scatter_reduce_(0, row, scaled, "amax")
    shares = (scaled - largest[row, 0]).double().exp()
    total[:, 0] = total[:, 0].double().index_add(0, row, shares).float()
    largest[total == 0] = 0
    rank.values[step["out"][0]] = (shares.float() / total[row, 0])[:, None]


def softmax_back(step, rank):
    """The gradient of the weights becomes, in place, that of the scores; of rows, that of beta."""
    part = rank.part(step["matrix"])
    scores, weights, inner, beta = (rank.values[name] for name in step["in"])
    row = part.edge_rows()
    back = weights * (rank.values[step["gradient"]] - inner[row])
    out = rank.zeros(rank.tensor(step["out"][0]))
    out += out.double().index_add(0, row, (back * scores).double()).float()
    rank.values[step["gradient"]] = beta[0, 0] * back


OPERATIONS = {"softmax": softmax, "softmax_back": softmax_back}


def edge(step, rank):
    OPERATIONS[step["op"]](step, rank)


def matrices_of(plan, step):
    """The matrices of whose nonzeros the operand and the result of a step have values."""
    return tuple(plan.tensors[plan.tensors[step[key]].structure] for key in ("in", "out"))


def pairs_of(rank, matrix, holder, root=None):
    """Rows and columns of the nonzeros of a rank, or of its pieces that one root has as rows."""
    rows = matrix_rows(rank.grid, matrix, holder)
    graph = rank.graph.part_on(rank.grid, matrix, holder)
    found = [graph.pairs(matrix.transposed, rows, piece.columns)
             for piece in pieces_of(rank.grid, matrix, holder)
             if root is None or piece.dense_root == root]
    return tuple(numpy.concatenate([of[i] for of in found] or [numpy.zeros(0, numpy.int64)])
                 for i in (0, 1))


class Reordering:
    """Where a rank finds, among what ranks of a group have sent it, the values of its own edges."""

    def __init__(self, rank, step):
        source, target = matrices_of(rank.plan, step)
        self.transposes = step.kind == "edge_transpose"
        self.group = rank.grid.along(rank.rank, "x" if self.transposes else "y")
        root = rank.rank if self.transposes else None
        sent = [pairs_of(rank, source, peer, root) for peer in self.group]
        self.counts = [len(rows) for rows, _ in sent]
        rows, columns = (numpy.concatenate([of[i] for of in sent]) for i in (0, 1))
        wanted_rows, wanted_columns = pairs_of(rank, target, rank.rank)
        if self.transposes:
            rows, columns = columns, rows
        key, wanted = (a * rank.graph.vertices + b
                       for a, b in ((rows, columns), (wanted_rows, wanted_columns)))
        order = numpy.argsort(key)
        index = order[numpy.searchsorted(key[order], wanted)]
        self.index = torch.from_numpy(index).to(rank.device)
        self.own = self._own_pieces(rank, source)

    def _own_pieces(self, rank, source):
        """By receiver, which of the rank's values it gets: of a transposition some, else all."""
        part = rank.part(source.name)
        if not self.transposes:
            return {peer: part.edges() for peer in self.group}
        return {peer: [at for at, stage in zip(part.edges(), part.stages)
                       if stage.piece and stage.piece.dense_root == peer] for peer in self.group}

    def run(self, rank, values):
        parts = {peer: torch.cat([values[:0], *(values[at] for at in pieces)])
                 for peer, pieces in self.own.items()}
        received = [parts[peer] if peer == rank.rank else values.new_empty(count, values.shape[1])
                    for peer, count in zip(self.group, self.counts)]
        rank.wire.exchange([(peer, parts[peer]) for peer in self.group if peer != rank.rank],
                           [(peer, of) for peer, of in zip(self.group, received)
                            if peer != rank.rank])
        return torch.cat(received)[self.index]


def reorder(step, rank):
    """Values of edges where the transpose has them, or on every rank that has the same rows."""
    if step.name not in rank.reorderings:
        rank.reorderings[step.name] = Reordering(rank, step)
    rank.values[step["out"]] = rank.reorderings[step.name].run(rank, rank.values[step["in"]])


def edges_of(plan, graph, matrix, rank):
    """How many nonzeros there are in a rank's rows."""
    of_rank = graph.part_on(plan.grid, matrix, rank)
    return of_rank.nonzeros(matrix.transposed, matrix_rows(plan.grid, matrix, rank),
                            (0, matrix.columns))


def sent_by(plan, graph, step, rank):
    """The bytes that a rank sends in a step that reorders."""
    source, target = matrices_of(plan, step)
    width = size(plan.grid.block(plan.tensors[step["in"]], rank)[1])
    if step.kind == "edge_gather":
        return 4 * width * edges_of(plan, graph, source, rank) * (plan.grid.extent["y"] - 1)
    own = matrix_rows(plan.grid, source, rank)
    return sum(4 * width * graph.nonzeros(source.transposed, own, matrix_rows(plan.grid, target, peer))
               for peer in plan.grid.along(rank, "x") if peer != rank)
