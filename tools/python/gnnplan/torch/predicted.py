"""The bytes that each rank sends in each step, as docs/cost-model.md counts them."""

from .grid import balanced, size
from .loss import column_parallel
from .pieces import matrix_rows, pieces_of
from .redistribute import common, peers_of
from .sparse import Packing, asks_for_rows, base_of
from .wire import bytes_of_bits, part_size

BYTES = {"f32": 4, "f64": 8}


def bytes_of(plan, graph):
    """By the name of a step, what each rank sends."""
    predict = {"spmm": spmm, "index": index, "redistribute": redistribute, "loss": loss,
               "all_reduce": all_reduce, "reduce_scatter": reduce_scatter}
    found = {}
    for step in plan.steps:
        sent = [0] * plan.ranks
        if step.kind in predict:
            predict[step.kind](plan, graph, step, sent)
        found[step.name] = sent
    return found


def spmm(plan, graph, step, sent):
    """Rows of the dense operand, and nonzeros where they are shared, for each piece of a rank."""
    grid, matrix = plan.grid, plan.tensors[step["matrix"]]
    by_need = asks_for_rows(plan, base_of(plan, matrix.name))
    for rank in range(grid.size):
        own = matrix_rows(grid, matrix, rank)
        width = size(grid.block(plan.tensors[step["in"]], rank)[1])
        for piece in pieces_of(grid, matrix, rank):
            if piece.dense_root != rank:
                rows = size(piece.columns)
                if by_need:
                    rows = len(graph.met(matrix.transposed, own, piece.columns))
                sent[piece.dense_root] += 4 * width * rows
            if piece.matrix_root != rank:
                count = graph.nonzeros(matrix.transposed, own, piece.columns)
                packing = Packing(plan, matrix, own, piece.columns, count)
                sent[piece.matrix_root] += packing.bytes


def index(plan, graph, step, sent):
    """Requests go the other way than rows."""
    matrix = plan.tensors[step["matrix"]]
    for rank in range(plan.ranks):
        own = matrix_rows(plan.grid, matrix, rank)
        for piece in pieces_of(plan.grid, matrix, rank):
            if piece.dense_root != rank:
                sent[rank] += 4 * len(graph.met(matrix.transposed, own, piece.columns))


def redistribute(plan, graph, step, sent):
    source, target = plan.tensors[step["in"]], plan.tensors[step["out"]]
    for rank in range(plan.ranks):
        block = plan.grid.block(source, rank)
        for peer in peers_of(plan.grid, source, target, rank):
            if peer != rank:
                elements = part_size(common(block, plan.grid.block(target, peer)))
                bits = source.dtype == "bits"
                sent[rank] += bytes_of_bits(elements) if bits else 4 * elements


def loss(plan, graph, step, sent):
    """A maximum and a sum for each row, to every other rank of the y-group."""
    logits, labels = plan.tensors[step["logits"]], plan.tensors[step["labels"]]
    if column_parallel(plan.grid, logits, labels):
        for rank in range(plan.ranks):
            rows = size(plan.grid.block(logits, rank)[0])
            sent[rank] += 8 * rows * (plan.grid.extent["y"] - 1)


def all_reduce(plan, graph, step, sent):
    """In the ring a rank sends all blocks twice, but for one each time."""
    tensor = plan.tensors[step["tensor"]]
    for rank in range(plan.ranks):
        group = plan.grid.along(rank, tensor.layout[2])
        count, place = len(group), group.index(rank)
        if count > 1:
            elements = part_size(plan.grid.block(tensor, rank))
            left = [size(balanced((0, elements), (place + i) % count, count)) for i in (1, 2)]
            sent[rank] += BYTES[tensor.dtype] * (2 * elements - sum(left))


def reduce_scatter(plan, graph, step, sent):
    """In the ring a rank sends all blocks of rows but its own."""
    source, target = plan.tensors[step["in"]], plan.tensors[step["out"]]
    for rank in range(plan.ranks):
        rows, columns = plan.grid.block(source, rank)
        kept = size(plan.grid.block(target, rank)[0])
        sent[rank] += 4 * (size(rows) - kept) * size(columns)
