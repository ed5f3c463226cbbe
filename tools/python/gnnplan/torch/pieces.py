"""The pieces in which a rank works through a distributed product, and what it sends meanwhile.

Piece: the columns of the matrix, the rank that holds those rows of the dense operand, and the
rank that stores the nonzeros. Stage k of a rank multiplies its k-th piece, and serves the k-th
pieces of others.
"""

from collections import namedtuple

from .grid import balanced, intersect, size

Piece = namedtuple("Piece", "columns dense_root matrix_root")
Stage = namedtuple("Stage", "piece nonzeros")


def deals_blocks(matrix):
    """Whether the blocks of the dense operand are dealt to the ranks of a y-group (1.5D)."""
    return matrix.layout[1] == "y"


def shares_nonzeros(grid, matrix):
    """Whether nonzeros are split over y, so that products gather them (2D and 3D)."""
    return grid.extent["y"] > 1 and "y" in matrix.layout[1] and not deals_blocks(matrix)


def in_groups(matrix):
    """Whether its columns are those of the rows' group, and so is all that a product reads."""
    return matrix.layout[1] == "x"


def deals_rows(matrix):
    """Whether every rank has rows of its own, also within a y-group (scores of dealt rows)."""
    return "y" in matrix.layout[0]


def dense_rows(grid, matrix, rank):
    """The rows of the dense operand that a rank holds."""
    return grid.split(matrix.columns, "xzy" if deals_rows(matrix) else "xz", rank)


def matrix_rows(grid, matrix, rank):
    return grid.split(matrix.rows, matrix.layout[0], rank)


def pieces_of(grid, matrix, rank):
    """All pieces of a rank, in the order in which it multiplies them."""
    if shares_nonzeros(grid, matrix):
        return shared_pieces(grid, matrix, rank)
    if deals_blocks(matrix):
        return dealt_pieces(grid, matrix, rank)
    pieces, roots = [], [rank] if in_groups(matrix) else grid.along(rank, "x")
    if deals_rows(matrix):
        roots = grid.by_blocks()
    own = roots.index(rank)
    for root in roots[own:] + roots[:own]:
        splits = 1 if root == rank else matrix.splits
        block = dense_rows(grid, matrix, root)
        pieces += [Piece(balanced(block, i, splits), root, rank) for i in range(splits)]
    return pieces


def hand_of(grid, rank):
    """Returns the range of blocks along x that a rank is dealt."""
    return balanced((0, grid.extent["x"]), grid.at(rank, "y"), grid.extent["y"])


def dealt_pieces(grid, matrix, rank):
    """Each block comes from the rank of its y-group that is dealt the receiver's own block."""
    own, (begin, end) = grid.at(rank, "x"), hand_of(grid, rank)
    sender_y = next(y for y in range(grid.extent["y"])
                    if own in range(*balanced((0, grid.extent["x"]), y, grid.extent["y"])))
    pieces = []
    for k in range(end - begin):
        ix = begin + (own - begin + k) % (end - begin)
        root = grid.neighbour(grid.neighbour(rank, "x", ix), "y", sender_y)
        block = dense_rows(grid, matrix, root)
        pieces += [Piece(balanced(block, i, matrix.splits), root, rank)
                   for i in range(matrix.splits)]
    return pieces


def shared_pieces(grid, matrix, rank):
    """The common refinement of blocks of dense rows over x and of nonzeros over y."""
    slices, position = [], 0
    for ix in range(grid.extent["x"]):
        root = grid.neighbour(rank, "x", ix)
        block = dense_rows(grid, matrix, root)
        slices.append((root, block, position))
        position += size(block)
    pieces = []
    for root, block, begin in slices:
        for iy in range(grid.extent["y"]):
            part = balanced((0, position), iy, grid.extent["y"])
            common = intersect((begin, begin + size(block)), part)
            shift = block[0] - begin
            columns = common[0] + shift, common[1] + shift
            count = min(matrix.splits, size(columns))
            holder = grid.neighbour(rank, "y", iy)
            pieces += [Piece(balanced(columns, i, count), root, holder) for i in range(count)]
    first = first_of(grid, len(pieces), rank)
    return pieces[first:] + pieces[:first]


def first_of(grid, count, rank):
    """With which of the pieces of a slice a rank begins: each rank with another one."""
    places = [count * grid.at(rank, axis) // grid.extent[axis] for axis in "xy"]
    return sum(places) % count if count else 0


def stages_of(grid, matrix, rank):
    """The stages of a rank: as many as the rank with the most pieces has."""
    others = {peer: pieces_of(grid, matrix, peer) for peer in range(grid.size)}
    stages = []
    for k in range(max(len(pieces) for pieces in others.values())):
        at = {peer: pieces[k] for peer, pieces in others.items() if k < len(pieces)}
        stages.append(Stage(at.get(rank), [(peer, p.columns) for peer, p in at.items()
                                           if peer != rank == p.matrix_root]))
    return stages
