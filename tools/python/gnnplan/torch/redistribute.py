"""Moves a matrix from one layout to another: each rank sends what blocks have in common."""

import torch

from .grid import LAYOUT_COLUMNS, LAYOUT_F, intersect
from .wire import bytes_of_bits, part_size


def common(a, b):
    return intersect(a[0], b[0]), intersect(a[1], b[1])


def may_take(grid, source, a, b):
    """In layout F each rank of a y-group has all columns, and takes rows at its own place."""
    replicated = grid.extent["y"] > 1 and grid.placed(source.layout, LAYOUT_F)
    return not replicated or grid.at(a, "y") == grid.at(b, "y")


def peers_of(grid, source, target, rank):
    """The ranks that a rank exchanges parts with, itself among them."""
    across = source.space != target.space or target.layout == LAYOUT_COLUMNS
    ranks = range(grid.size) if across else grid.along(rank, "y")
    return [peer for peer in ranks if may_take(grid, source, rank, peer)]


def pack_bits(part):
    """A byte for each eight elements, the first one in its lowest bit."""
    flat = part.reshape(-1).to(torch.uint8)
    padded = torch.zeros(8 * bytes_of_bits(flat.numel()), dtype=torch.uint8, device=part.device)
    padded[:flat.numel()] = flat
    weights = torch.tensor([1 << i for i in range(8)], dtype=torch.uint8, device=part.device)
    return (padded.reshape(-1, 8) * weights).sum(1, dtype=torch.uint8)


def unpack_bits(packed, shape):
    shifts = torch.arange(8, dtype=torch.uint8, device=packed.device)
    bits = torch.bitwise_and(packed[:, None] // 2 ** shifts, 1).reshape(-1)
    return bits[:shape[0] * shape[1]].reshape(shape).bool()


def redistribute(step, rank):
    """Rows that only the result has are zero, and those that only the source has are left out."""
    grid, source, target = rank.grid, rank.tensor(step["in"]), rank.tensor(step["out"])
    bits = source.dtype == "bits"
    have, want = grid.block(source, rank.rank), grid.block(target, rank.rank)
    values, out = rank.values[source.name], rank.zeros(target)
    sends, receives, arriving = [], [], []
    for peer in peers_of(grid, source, target, rank.rank):
        sent = common(have, grid.block(target, peer))
        got = common(want, grid.block(source, peer))
        if peer == rank.rank:
            place(out, want, got)[:] = place(values, have, got)
            continue
        if part_size(sent):
            part = place(values, have, sent)
            sends.append((peer, pack_bits(part) if bits else part))
        if part_size(got):
            shape = place(out, want, got).shape
            buffer = torch.empty(bytes_of_bits(part_size(got)) if bits else shape,
                                 dtype=torch.uint8 if bits else out.dtype, device=out.device)
            receives.append((peer, buffer))
            arriving.append((got, buffer, shape))
    rank.wire.exchange(sends, receives)
    for got, buffer, shape in arriving:
        place(out, want, got)[:] = unpack_bits(buffer, shape) if bits else buffer


def place(values, block, part):
    """The part of a local block, both in global rows and columns."""
    (row, _), (column, _) = block
    (first, last), (left, right) = part
    return values[first - row:last - row, left - column:right - column]
