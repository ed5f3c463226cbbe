"""The bytes that each rank sends in each step, as docs/cost-model.md counts them."""

from . import edges, ring
from .grid import balanced, size
from .loss import column_parallel
from .pieces import matrix_rows
from .redistribute import common, peers_of
from .sources import Sources
from .sparse import Packing
from .summands import sent_by
from .wire import bytes_of_bits, part_size

BYTES = {"f32": 4, "f64": 8}


def bytes_of(plan, graph, steps):
    """By the name of a step, what each rank sends."""
    predict = {"spmm": spmm, "index": index, "redistribute": redistribute, "loss": loss,
               "sum_rows": sum_rows, "ring_gemm": ring_gemm, "edge_transpose": reorder,
               "edge_gather": reorder, "all_reduce": all_reduce, "reduce_scatter": reduce_scatter}
    found = {}
    for step in steps:
        sent = [0] * plan.ranks
        if step.kind in predict:
            predict[step.kind](plan, graph, step, sent)
        found[step.name] = sent
    return found


def spmm(plan, graph, step, sent):
    """Rows of the dense operand, and nonzeros where they are shared, for each piece of a rank."""
    matrix = plan.tensors[step["matrix"]]
    sources = Sources(plan, graph, matrix, step["exchange"], bool(step["overlap"]))
    for rank, pieces in enumerate(sources.pieces):
        own = matrix_rows(plan.grid, matrix, rank)
        names = step["column_operands"] or [step["in"]]
        width = sum(size(plan.grid.block(plan.tensors[name], rank)[1]) for name in names)
        for k, piece in enumerate(pieces):
            for source, rows in sources.of(rank, k):
                sent[source] += 4 * width * (size(piece.columns) if rows is None else len(rows))
            if piece.matrix_root != rank:
                of_rank = graph.part_on(plan.grid, matrix, rank)
                count = of_rank.nonzeros(matrix.transposed, own, piece.columns)
                packing = Packing(plan, matrix, own, piece.columns, count)
                sent[piece.matrix_root] += packing.bytes


def index(plan, graph, step, sent):
    """Requests for rows that come straight go the other way than these."""
    if step["targets"]:
        for rank in range(plan.ranks):
            sent[rank] += sent_by(plan, graph, step, rank, 1)
        return
    exchange = "relayed_rows" if step["relayed"] else "rows"
    sources = Sources(plan, graph, plan.tensors[step["matrix"]], exchange, False)
    for rank, pieces in enumerate(sources.pieces):
        for k, piece in enumerate(pieces):
            sent[rank] += 4 * sum(len(rows) for source, rows in sources.of(rank, k)
                                  if source == piece.dense_root)


def sum_rows(plan, graph, step, sent):
    for rank in range(plan.ranks):
        width = size(plan.grid.block(plan.tensors[step["out"]], rank)[1])
        sent[rank] += sent_by(plan, graph, step, rank, width)


def ring_gemm(plan, graph, step, sent):
    for rank in range(plan.ranks):
        sent[rank] += ring.sent_by(plan, step, rank)


def reorder(plan, graph, step, sent):
    for rank in range(plan.ranks):
        sent[rank] += edges.sent_by(plan, graph, step, rank)


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
            elements = elements_of(plan, graph, tensor, rank)
            left = [size(balanced((0, elements), (place + i) % count, count)) for i in (1, 2)]
            sent[rank] += BYTES[tensor.dtype] * (2 * elements - sum(left))


def elements_of(plan, graph, tensor, rank):
    block = plan.grid.block(tensor, rank)
    if tensor.role != "edges":
        return part_size(block)
    matrix = plan.tensors[tensor.structure]
    return size(block[1]) * edges.edges_of(plan, graph, matrix, rank)


def reduce_scatter(plan, graph, step, sent):
    """In the ring a rank sends all blocks of rows but its own."""
    source, target = plan.tensors[step["in"]], plan.tensors[step["out"]]
    for rank in range(plan.ranks):
        rows, columns = plan.grid.block(source, rank)
        kept = size(plan.grid.block(target, rank)[0])
        sent[rank] += 4 * (size(rows) - kept) * size(columns)
