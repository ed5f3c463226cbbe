"""Sums of the parts of a cut: each rank sends every summand to the owner of its row."""

import torch

from .grid import size
from .pieces import dense_rows
from .sparse import base_of


def ranges_of(plan, graph, matrix, rank):
    """The rows of the summands of `rank`, and which of them each rank along x owns."""
    stored = graph.part_on(plan.grid, matrix, rank).stored_rows(matrix.transposed)
    found = {}
    for peer in plan.grid.along(rank, "x"):
        first, last = (int(at) for at in stored.searchsorted(dense_rows(plan.grid, matrix, peer)))
        found[peer] = first, last
    return stored, found


def index_targets(step, rank):
    """Tells every owner which of its rows this rank will send summands of."""
    matrix = rank.tensor(base_of(rank.plan, step["matrix"]))
    part = rank.part(step["matrix"])
    stored, mine = ranges_of(rank.plan, rank.graph, matrix, rank.rank)
    stored = torch.from_numpy(stored).to(rank.device)
    sends, receives = [], []
    for peer, (first, last) in mine.items():
        if peer == rank.rank:
            part.targets[peer] = stored[first:last]
            continue
        sends.append((peer, stored[first:last].to(torch.int32)))
        count = size(ranges_of(rank.plan, rank.graph, matrix, peer)[1][rank.rank])
        part.targets[peer] = torch.empty(count, dtype=torch.int32, device=rank.device)
        receives.append((peer, part.targets[peer]))
    rank.wire.exchange(sends, receives)


def sum_rows(step, rank):
    """Adds up, of each row that this rank owns, the summands of all parts."""
    matrix = rank.tensor(base_of(rank.plan, step["matrix"]))
    part, summands = rank.part(step["matrix"]), rank.values[step["in"]]
    _, mine = ranges_of(rank.plan, rank.graph, matrix, rank.rank)
    sends, received = [], {}
    for peer, (first, last) in mine.items():
        if peer == rank.rank:
            received[peer] = summands[first:last]
        else:
            sends.append((peer, summands[first:last]))
            received[peer] = summands.new_empty(len(part.targets[peer]), summands.shape[1])
    rank.wire.exchange(sends, [(peer, rows) for peer, rows in received.items()
                               if peer != rank.rank])
    out = rank.zeros(rank.tensor(step["out"]))
    own = rank.block(step["out"])[0][0]
    for peer, rows in received.items():
        out.index_add_(0, part.targets[peer].long() - own, rows)


def sent_by(plan, graph, step, rank, width):
    """The bytes of summands, or of their numbers, that a rank sends to others."""
    matrix = plan.tensors[base_of(plan, step["matrix"])]
    _, mine = ranges_of(plan, graph, matrix, rank)
    return sum(4 * width * size(rows) for peer, rows in mine.items() if peer != rank)
