"""Dense products between matrices whose columns ranks share, tile by tile of rows (DEAL's ring GEMM)."""

import torch

from .grid import balanced, size

PIPELINE = 8  # tiles, unless the ranks of a y-group are more


def tile(grid, step, plan, rank, t):
    """The rows of a tile that a rank multiplies."""
    rows = grid.split(plan.tensors[step["in"]].rows, "xzy", rank)
    return balanced(rows, t, max(grid.extent["y"], PIPELINE))


def ring_gemm(step, rank):
    """Whole rows of a tile come together, are multiplied, and their columns go where they belong."""
    values, weight = rank.values[step["in"]], rank.values[step["weight"]]
    out = rank.zeros(rank.tensor(step["out"]))
    group = rank.grid.along(rank.rank, "y")
    first = rank.block(step["in"])[0][0]
    for t in range(max(rank.grid.extent["y"], PIPELINE)):
        rows = {peer: tile(rank.grid, step, rank.plan, peer, t) for peer in group}
        local = {peer: slice(of[0] - first, of[1] - first) for peer, of in rows.items()}
        count = size(rows[rank.rank])
        arriving = {peer: values.new_empty(count, size(rank.grid.block(rank.tensor(step["in"]), peer)[1]))
                    for peer in group}
        exchange(rank, group, {peer: values[local[peer]] for peer in group}, arriving)
        made = torch.cat([arriving[peer] for peer in group], 1) @ weight
        leaving = {peer: made[:, slice(*rank.grid.block(rank.tensor(step["out"]), peer)[1])] for peer in group}
        results = {peer: out.new_empty(size(rows[peer]), out.shape[1]) for peer in group}
        exchange(rank, group, leaving, results)
        for peer in group:
            out[local[peer]] = results[peer]


def exchange(rank, group, sent, received):
    """Sends each rank of the group its part; a rank's own part stays."""
    received[rank.rank] = sent[rank.rank]
    others = [peer for peer in group if peer != rank.rank]
    rank.wire.exchange([(peer, sent[peer]) for peer in others],
                       [(peer, received[peer]) for peer in others])


def sent_by(plan, step, rank):
    """Bytes of columns of the operand for the rows of others, and of the result of a rank's own."""
    grid, source, target = plan.grid, plan.tensors[step["in"]], plan.tensors[step["out"]]
    own_rows = size(grid.split(source.rows, "xzy", rank))
    own_columns = size(grid.block(source, rank)[1])
    return sum(4 * (size(grid.split(source.rows, "xzy", peer)) * own_columns
                    + own_rows * size(grid.block(target, peer)[1]))
               for peer in grid.along(rank, "y") if peer != rank)
